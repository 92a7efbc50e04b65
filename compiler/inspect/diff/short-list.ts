/** Formats at most three items: `a, b, c, ...`. */
export function shortList(all: readonly string[]): string {
  const shown = all.slice(0, 3).join(", ");
  return all.length > 3 ? `${shown}, ...` : shown;
}
