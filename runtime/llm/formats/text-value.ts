/** A value of a provider's JSON as far as it is a text. */
export function providerText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Whether a value of a provider's JSON is a text that says something. */
export function isFilledText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
