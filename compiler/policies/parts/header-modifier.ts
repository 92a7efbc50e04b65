import {
  checkHeaderName,
  type HeaderField,
  headerMapSchema,
  headerNameSchema,
  readHeaders,
  resolveHeader,
} from "../../backends/parts/header-fields.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { headerName } from "../../manifests/field-types.ts";
import type { Text } from "../../model/texts.ts";
import { type Infer, list, object, text } from "../../schema/schema.ts";
import type { Policy, ResolveContext } from "../policy.ts";

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

/** A policy that changes the headers of requests or of responses. */
export type HeaderModifierPolicy<Kind extends string> = Policy<
  Kind,
  HeaderModifierConfig,
  HeaderModifierNode,
  HeaderModifierValue,
  KubernetesHeaderModifierValue
>;

/** The policy of a kind; `part`: of which message. */
export function headerModifier<const Kind extends string>(
  kind: Kind,
  part: "request" | "response",
  summary: string,
): HeaderModifierPolicy<Kind> {
  return {
    kind,
    summary,
    scope: ["listener", "route"],
    actsOn: ["requests"],
    schema: headerModifierSchema(`Changes to the ${part}'s headers.`),
    aliases: [["headerModifiers", part]],
    isPlannedOnBackend: true,
    names: [`${part}Headers`],
    merge: "replace",
    lower: lowerHeaderModifier,
    kubernetes: {
      field: "traffic.headerModifiers",
      part,
      filter: kind,
      schema: kubernetesHeaderModifierSchema,
      lower: (value, { origin }) => lowerKubernetesHeaderModifier(value, origin),
    },
    resolve: resolveHeaderModifier,
  };
}

/** The shape of a header modifier. */
function headerModifierSchema(description: string) {
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

/** Gateway API `HTTPHeaderFilter`: what is set, added and removed. */
const kubernetesHeaderModifierSchema = object(
  {
    set: kubernetesHeaders("Headers that replace what is there."),
    add: kubernetesHeaders("Headers that are appended to what is there."),
    remove: list(headerName, { maxItems: 16, description: "Headers that are taken out." }),
  },
  { atLeastOneOf: ["set", "add", "remove"], description: "What is changed of the headers." },
);

function kubernetesHeaders(description: string) {
  return list(
    object(
      { name: headerName, value: text("The value.", { maxLength: 4096 }) },
      { required: ["name", "value"] },
    ),
    { maxItems: 16, description },
  );
}

/** A header modifier of a file, validated. */
type HeaderModifierValue = Infer<ReturnType<typeof headerModifierSchema>>;

/** The same of manifests. */
type KubernetesHeaderModifierValue = Infer<typeof kubernetesHeaderModifierSchema>;

/** The changes that a file says. */
function lowerHeaderModifier(
  { set, add, remove = [] }: HeaderModifierValue,
  origin: Origin,
): HeaderModifierConfig {
  return {
    set: readHeaders(set, childOf(origin, "set")),
    add: readHeaders(add, childOf(origin, "add")),
    remove: removed(remove, origin),
  };
}

/** The changes that manifests say. */
function lowerKubernetesHeaderModifier(
  { set = [], add = [], remove = [] }: KubernetesHeaderModifierValue,
  origin: Origin,
): HeaderModifierConfig {
  return {
    set: set.map((field, index) => headerField(field, childOf(origin, "set", index))),
    add: add.map((field, index) => headerField(field, childOf(origin, "add", index))),
    remove: removed(remove, origin),
  };
}

function headerField(
  field: { readonly name: string; readonly value: Text },
  origin: Origin,
): HeaderField {
  return { ...field, origin, valueOrigin: childOf(origin, "value") };
}

function removed(names: readonly string[], origin: Origin): HeaderModifierConfig["remove"] {
  return names.map((name, index) => ({ name, origin: childOf(origin, "remove", index) }));
}

/** The changes to make; undefined when one of them can't be made (reported). */
function resolveHeaderModifier(
  { set, add, remove }: HeaderModifierConfig,
  context: ResolveContext,
): HeaderModifierNode | undefined {
  const resolved = {
    set: set.flatMap((field) => resolveHeader(field, context) ?? []),
    add: add.flatMap((field) => resolveHeader(field, context) ?? []),
  };
  const isSound = [
    resolved.set.length === set.length && resolved.add.length === add.length,
    ...remove.map(({ name, origin }) => checkHeaderName(name, origin, context)),
    checkConflicts([...set, ...add, ...remove], context),
  ];
  if (isSound.includes(false)) return undefined;
  const pair = ({ name, value }: HeaderField): [string, Text] => [name.toLowerCase(), value];
  return {
    set: resolved.set.map(pair),
    add: resolved.add.map(pair),
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
