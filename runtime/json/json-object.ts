/** Whether a value of parsed JSON is an object. */
export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
