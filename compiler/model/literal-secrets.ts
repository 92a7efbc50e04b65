import {
  type ConfigPath,
  type Diagnostics,
  keyPlace,
  type Place,
  placeKey,
} from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/** A credential that the configuration writes out. */
export interface LiteralSecret {
  /** The variable that the gateway reads it from: `GWC_` and where it stands. */
  readonly variable: string;
  readonly value: string;
  readonly at: Place;
}

/** The credentials that a configuration writes out, kept apart from the program: no text of it may hold one. */
export class LiteralSecrets {
  readonly #byPlace = new Map<string, LiteralSecret>();
  readonly #taken = new Set<string>();

  /** Each once, in the order they were met. */
  get list(): readonly LiteralSecret[] {
    return [...this.#byPlace.values()];
  }

  /** The variable for a value; the same for the same place. */
  variableFor(value: string, at: Place): string {
    const key = placeKey(at);
    const known = this.#byPlace.get(key);
    if (known !== undefined) return known.variable;
    const variable = this.#free(variableName(at));
    this.#byPlace.set(key, { variable, value, at });
    return variable;
  }

  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#taken.has(free); count++) free = `${name}_${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** What hiding a credential needs. */
export interface SecretContext {
  readonly diagnostics: Diagnostics;
  readonly literals: LiteralSecrets;
}

/** What is said of a field that holds a credential. */
interface LiteralField {
  readonly field: string;
  readonly instead?: string | undefined;
  readonly marked?: Place;
}

/**
 * The text of a field that holds a credential, without what is written out there: that becomes a variable, which the
 * warning names. `field`: in quotes. `instead`: where it belongs, when that is no variable. `marked`: what is shown where
 * the text has no key of its own.
 */
export function withoutLiteral(
  text: Text,
  at: Place,
  { field, instead, marked = at }: LiteralField,
  { diagnostics, literals }: SecretContext,
): Text {
  if (typeof text !== "string" || text === "") return text;
  const variable = literals.variableFor(text, at);
  // The key is marked: a report shows what it marks, and nothing behind it.
  diagnostics.report("literal-secret", keyPlace(marked), {
    field,
    variable,
    instead: instead ?? (at.resource && IN_MANIFESTS),
  });
  return { kind: "env", parts: [{ env: variable }] };
}

/** Manifests have no variables of their own. */
const IN_MANIFESTS = "put it into a Secret, and name that in env of the GatewayParameters";

function variableName({ path, resource }: Place): string {
  const own: ConfigPath =
    resource === undefined ? path : [resource.name, ...path.slice(resource.depth)];
  const words = own.join("_").replace(/[^A-Za-z0-9]+/g, "_");
  return `GWC_${words.toUpperCase()}`;
}
