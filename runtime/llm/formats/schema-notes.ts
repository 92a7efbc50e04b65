/** Keywords without effect on values. */
const IGNORED: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "$comment", "examples", "deprecated", "readOnly", "writeOnly"],
]);

/** Returns a keyword that a provider lacks as a note for its model; none if it has no effect on values. */
export function noteOf(key: string, value: unknown): readonly string[] {
  return IGNORED.has(key) ? [] : [`${key}: ${JSON.stringify(value)}`];
}

/** Adds the keywords of a schema that a provider lacks to its description. */
export function withNotes(description: unknown, notes: readonly string[]): string {
  const own = typeof description === "string" ? `${description}\n` : "";
  return `${own}{${notes.join(", ")}}`;
}
