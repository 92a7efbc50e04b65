import { type RequestObject, unsupportedField } from "./request-object.ts";

/**
 * What a format's reader does with each field of a request, when it is translated: `read`; `dropped`: a hint to the
 * provider, the completion is right without it; `refused`: no other format can say it, unless its value is one that asks
 * for nothing. A field that is in no table is refused.
 */
export type FieldTable = Readonly<
  Record<string, "read" | "dropped" | { readonly refusedUnless: readonly unknown[] }>
>;

/** A field that no other format can say, whatever its value. */
export const refused = { refusedUnless: [] } as const;

/** Throws LlmRefusal for the first field of a request that cannot be translated. */
export function checkFields(fields: RequestObject, table: FieldTable): void {
  for (const name of fields.keys) {
    const fate = Object.hasOwn(table, name) ? table[name] : refused;
    if (typeof fate === "object") refuseField(fields, name, fate.refusedUnless);
  }
}

/** Throws LlmRefusal for a field that no other format can say, unless it is absent or its value asks for nothing. */
export function refuseField(
  fields: RequestObject,
  name: string,
  harmless: readonly unknown[] = [],
): void {
  const value = fields.any(name);
  if (value === undefined || harmless.some((each) => isSame(each, value))) return;
  throw unsupportedField(fields.at(name));
}

/** Equal as JSON: the values that ask for nothing are short. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}
