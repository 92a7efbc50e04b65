/** A scalar as text; empty for a list or a mapping, which is another mistake and has no text (nor a prototype). */
export function scalarText(value: unknown): string {
  return typeof value === "object" ? "" : String(value);
}
