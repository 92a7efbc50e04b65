import type { ConfigValue } from "../../1-parse/values.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../ir/texts.ts";
import { list, object } from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";
import {
  checkHeader,
  checkHeaderName,
  type HeaderField,
  headerMapSchema,
  headerNameSchema,
  readHeaders,
} from "./header-fields.ts";

/** Changes to the headers of a message, as configured. */
export interface HeaderModifierConfig {
  readonly set: readonly HeaderField[];
  readonly add: readonly HeaderField[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
}

/** Changes to the headers of a message: names in lower case, each in one place. */
export interface HeaderModifierNode {
  readonly set: readonly (readonly [name: string, value: Text])[];
  readonly add: readonly (readonly [name: string, value: Text])[];
  readonly remove: readonly string[];
}

/** The shape of a header modifier. */
export function headerModifierSchema(description: string) {
  return object(
    {
      set: headerMapSchema("Headers that replace all of their name."),
      add: headerMapSchema("Headers that are added to those of their name."),
      remove: list(headerNameSchema, {
        minItems: 1,
        maxItems: 64,
        description: "Headers that are removed.",
      }),
    },
    { atLeastOneOf: ["set", "add", "remove"], description },
  );
}

/** The validated changes. */
export function readHeaderModifier(value: ConfigValue, origin: Origin): HeaderModifierConfig {
  const given = value as {
    readonly set?: Readonly<Record<string, Text>>;
    readonly add?: Readonly<Record<string, Text>>;
    readonly remove?: readonly string[];
  };
  return {
    set: readHeaders(given.set, childOf(origin, "set")),
    add: readHeaders(given.add, childOf(origin, "add")),
    remove: (given.remove ?? []).map((name, index) => ({
      name,
      origin: childOf(origin, "remove", index),
    })),
  };
}

/** One side of the cluster's header modifiers: lists of names and values; undefined when it has none. */
export function readKubernetesHeaderModifier(
  value: ConfigValue,
  side: "request" | "response",
  origin: Origin,
): HeaderModifierConfig | undefined {
  const given = (value as Readonly<Partial<Record<typeof side, KubernetesHeaderModifier>>>)[side];
  if (given === undefined) return undefined;
  const at = childOf(origin, side);
  const fields = (part: "set" | "add"): readonly HeaderField[] =>
    (given[part] ?? []).map((field, index) => ({ ...field, origin: childOf(at, part, index) }));
  return {
    set: fields("set"),
    add: fields("add"),
    remove: (given.remove ?? []).map((name, index) => ({
      name,
      origin: childOf(at, "remove", index),
    })),
  };
}

/** Gateway API `HTTPHeaderFilter`. */
interface KubernetesHeaderModifier {
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
}

/** The changes to make; undefined when one of them can't be made (reported). */
export function resolveHeaderModifier(
  { set, add, remove }: HeaderModifierConfig,
  context: ResolveContext,
): HeaderModifierNode | undefined {
  const isSound = [
    ...[...set, ...add].map((field) => checkHeader(field, context)),
    ...remove.map(({ name, origin }) => checkHeaderName(name, origin, context)),
    checkConflicts([...set, ...add, ...remove], context),
  ];
  if (isSound.includes(false)) return undefined;
  const pair = ({ name, value }: HeaderField): [string, Text] => [name.toLowerCase(), value];
  return {
    set: set.map(pair),
    add: add.map(pair),
    remove: remove.map(({ name }) => name.toLowerCase()),
  };
}

function checkConflicts(
  fields: readonly { readonly name: string; readonly origin: Origin }[],
  { diagnostics }: ResolveContext,
): boolean {
  const seen = new Map<string, Origin>();
  let isSound = true;
  for (const { name, origin } of fields) {
    const first = seen.get(name.toLowerCase());
    if (first !== undefined) {
      const related = [{ at: first, label: "changed here first" }];
      diagnostics.report("header-conflict", origin, { name }, related);
      isSound = false;
    }
    seen.set(name.toLowerCase(), first ?? origin);
  }
  return isSound;
}
