import { type RequestObject, unsupportedField } from "./request-object.ts";

/**
 * Handling of each field of a request by a format's reader. `read`: translated; `dropped`: omitted, as the completion is
 * correct without it; `refusedUnless`: no other format can express it, except for values that have no effect. Fields that
 * are not in the table are refused.
 */
export type FieldTable = Readonly<
  Record<string, "read" | "dropped" | { readonly refusedUnless: readonly unknown[] }>
>;

/** Refuses a field with any value. */
export const refused = { refusedUnless: [] } as const;

/** Throws LlmRefusal for the first field of a request that cannot be translated. */
export function checkFields(fields: RequestObject, table: FieldTable): void {
  for (const name of fields.keys) {
    const handling = Object.hasOwn(table, name) ? table[name] : refused;
    if (typeof handling === "object") refuseField(fields, name, handling.refusedUnless);
  }
}

/** Throws LlmRefusal for a field that no other format can express, unless it is absent or its value has no effect. */
export function refuseField(
  fields: RequestObject,
  name: string,
  harmless: readonly unknown[] = [],
): void {
  const value = fields.any(name);
  if (value === undefined || harmless.some((each) => isSame(each, value))) return;
  throw unsupportedField(fields.at(name));
}

/** Compares as JSON: values without effect are short. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}
