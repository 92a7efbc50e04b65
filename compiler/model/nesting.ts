/**
 * Levels of lists and objects within a resource, at most: nobody writes as many, and who reads one of thousands runs out of
 * stack.
 */
export const MAX_LEVELS = 100;

/** A value without what is nested deeper than this; itself when nothing is. */
export function cutBelow<Value>(value: Value, levels: number): Value {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (levels === 0) return (entries.length === 0 ? value : null) as Value;
  const cut = entries.map(([key, each]) => [key, cutBelow(each, levels - 1)] as const);
  if (cut.every(([, each], index) => each === entries[index]?.[1])) return value;
  // It is of the same shape, but for what was cut.
  return (Array.isArray(value) ? cut.map(([, each]) => each) : Object.fromEntries(cut)) as Value;
}
