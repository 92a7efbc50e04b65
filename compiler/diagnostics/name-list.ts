/** Names in a sentence, at least one: `a`, `a or b`, `a, b or c`. Node's own `Intl` takes 10 ms to begin. */
export function nameList(names: readonly string[], conjunction: "and" | "or"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${conjunction} ${last}`;
}
