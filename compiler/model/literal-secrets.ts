import {
  type ConfigPath,
  type Diagnostics,
  keyPlace,
  type Place,
  placeKey,
} from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/** A credential that is a literal in the configuration. */
export interface LiteralSecret {
  /** Variable that the gateway reads it from: `GWC_` and the place of the credential. */
  readonly variable: string;
  readonly value: string;
  readonly at: Place;
}

/** Literal credentials of a configuration, separate from the program, none of whose strings may contain one. */
export class LiteralSecrets {
  readonly #byPlace = new Map<string, LiteralSecret>();
  readonly #taken = new Set<string>();
  readonly #whole: LiteralSecrets | undefined;

  /** `whole` are the credentials of the whole configuration, which these become part of. */
  constructor(whole?: LiteralSecrets) {
    this.#whole = whole;
  }

  /** Each once, in order of occurrence. */
  get list(): readonly LiteralSecret[] {
    return [...this.#byPlace.values()];
  }

  /** Returns the variable of a value; the same one for the same place. */
  variableFor(value: string, at: Place): string {
    const key = placeKey(at);
    const known = this.#byPlace.get(key);
    if (known !== undefined) return known.variable;
    const variable = this.#whole?.variableFor(value, at) ?? this.#free(variableName(at));
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

/** Dependencies for replacing literal credentials. */
export interface SecretContext {
  readonly diagnostics: Diagnostics;
  readonly literals: LiteralSecrets;
}

/** Properties of a field that contains a credential. */
interface LiteralField {
  readonly field: string;
  readonly instead?: string | undefined;
  readonly marked?: Place;
}

/**
 * Returns the string of a field without its literal credential, which becomes a variable that the warning names.
 * `field` is quoted. `instead` is the hint if the credential does not belong in a variable. `marked` is the place to
 * show if the string has no key of its own.
 */
export function withoutLiteral(
  text: Text,
  at: Place,
  { field, instead, marked = at }: LiteralField,
  { diagnostics, literals }: SecretContext,
): Text {
  if (typeof text !== "string" || text === "") return text;
  const variable = literals.variableFor(text, at);
  // The key is marked because a report shows the marked part and nothing after it.
  diagnostics.report("literal-secret", keyPlace(marked), {
    field,
    variable,
    instead: instead ?? (at.resource && IN_MANIFESTS),
  });
  return { kind: "env", parts: [{ env: variable }] };
}

/** Hint for manifests, which have no variables. */
const IN_MANIFESTS = "put it in a Secret, and reference it in env of the GatewayParameters";

function variableName({ path, resource }: Place): string {
  const own: ConfigPath =
    resource === undefined ? path : [resource.name, ...path.slice(resource.depth)];
  const words = own.join("_").replace(/[^A-Za-z0-9]+/g, "_");
  return `GWC_${words.toUpperCase()}`;
}
