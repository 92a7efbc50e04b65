/** Formats a non-empty list of names: `a`, `a or b`, `a, b or c`. `Intl` of Node.js takes 10 ms to load. */
export function nameList(names: readonly string[], conjunction: "and" | "or"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${conjunction} ${last}`;
}
