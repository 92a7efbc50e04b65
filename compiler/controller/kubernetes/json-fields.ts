import { isJsonObject } from "../../../runtime/json/json-object.ts";
/** Returns JSON of the API server as an object; `undefined` if it is not an object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** A field that is a text. */
export function textField(value: unknown, field: string): string | undefined {
  const found = recordOf(value)?.[field];
  return typeof found === "string" ? found : undefined;
}

/** Returns a field that is a list; empty if it is not a list. */
export function itemsField(value: unknown, field: string): readonly unknown[] {
  const found = recordOf(value)?.[field];
  return Array.isArray(found) ? found : [];
}
