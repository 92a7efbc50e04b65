import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { headerName } from "../../manifests/field-types.ts";
import type {
  HeaderChangesConfig,
  HeaderChangesNode,
  HeaderField,
} from "../../model/header-changes.ts";
import type { SecretContext } from "../../model/literal-secrets.ts";
import type { Text } from "../../model/texts.ts";
import { type Infer, list, object, text } from "../../schema/schema.ts";
import {
  checkHeaderName,
  headerMapSchema,
  headerNameSchema,
  readHeaders,
  resolveHeader,
} from "./header-fields.ts";

/** Descriptions of the changes: maps in files, lists in manifests. */
export const HEADER_CHANGES = {
  set: "Headers to set in place of existing ones of the same name.",
  add: "Headers to add to existing ones of the same name.",
  remove: "Headers to remove.",
};

/** Returns the schema of header changes in a file. */
export function headerChangesSchema(description: string) {
  return object(
    {
      set: headerMapSchema(HEADER_CHANGES.set),
      add: headerMapSchema(HEADER_CHANGES.add),
      remove: list(headerNameSchema, {
        minItems: 1,
        maxItems: 64,
        description: HEADER_CHANGES.remove,
      }),
    },
    { atLeastOneOf: ["set", "add", "remove"], description },
  );
}

/** Schema of Gateway API's `HTTPHeaderFilter`. */
export const kubernetesHeaderChangesSchema = object(
  {
    set: kubernetesHeaders(HEADER_CHANGES.set),
    add: kubernetesHeaders(HEADER_CHANGES.add),
    remove: list(headerName, { maxItems: 16, description: HEADER_CHANGES.remove }),
  },
  { atLeastOneOf: ["set", "add", "remove"], description: "Changes to the headers." },
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

/** Validated header changes of a file. */
export type HeaderChangesValue = Infer<ReturnType<typeof headerChangesSchema>>;

/** Validated header changes of manifests. */
export type KubernetesHeaderChangesValue = Infer<typeof kubernetesHeaderChangesSchema>;

/** Reads the header changes of a file. */
export function readHeaderChanges(
  { set, add, remove = [] }: HeaderChangesValue,
  origin: Origin,
): HeaderChangesConfig {
  return {
    set: readHeaders(set, childOf(origin, "set")),
    add: readHeaders(add, childOf(origin, "add")),
    remove: removed(remove, origin),
  };
}

/** Reads the header changes of manifests. */
export function readKubernetesHeaderChanges(
  { set = [], add = [], remove = [] }: KubernetesHeaderChangesValue,
  origin: Origin,
): HeaderChangesConfig {
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

function removed(names: readonly string[], origin: Origin): HeaderChangesConfig["remove"] {
  return names.map((name, index) => ({ name, origin: childOf(origin, "remove", index) }));
}

/** Resolves the changes; returns `undefined` if one of them is invalid (reported). */
export function resolveHeaderChanges(
  { set, add, remove }: HeaderChangesConfig,
  context: SecretContext,
): HeaderChangesNode | undefined {
  const resolved = {
    set: set.flatMap((field) => resolveHeader(field, context) ?? []),
    add: add.flatMap((field) => resolveHeader(field, context) ?? []),
  };
  const checks = [
    resolved.set.length === set.length && resolved.add.length === add.length,
    ...remove.map(({ name, origin }) => checkHeaderName(name, origin, context)),
    checkConflicts([...set, ...add, ...remove], context),
  ];
  if (checks.includes(false)) return undefined;
  const pair = ({ name, value }: HeaderField): [string, Text] => [name.toLowerCase(), value];
  return {
    set: resolved.set.map(pair),
    add: resolved.add.map(pair),
    remove: remove.map(({ name }) => name.toLowerCase()),
  };
}

function checkConflicts(
  fields: readonly { readonly name: string; readonly origin: Origin }[],
  { diagnostics }: SecretContext,
): boolean {
  const seen = new Map<string, Origin>();
  let isValid = true;
  for (const { name, origin } of fields) {
    const first = seen.get(name.toLowerCase());
    if (first !== undefined) {
      const related = [{ at: first, label: "changed here first" }];
      diagnostics.report("header-conflict", origin, { name }, related);
      isValid = false;
    }
    seen.set(name.toLowerCase(), first ?? origin);
  }
  return isValid;
}
