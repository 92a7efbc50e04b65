/**
 * Maximum nesting depth of a resource: nobody writes more by hand, and readers of thousands of levels run out of stack.
 */
export const MAX_LEVELS = 100;

/** Removes the levels below a depth; returns the value itself if there are none. */
export function cutBelow<Value>(value: Value, levels: number): Value {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (levels === 0) return (entries.length === 0 ? value : null) as Value;
  const cut = entries.map(([key, each]) => [key, cutBelow(each, levels - 1)] as const);
  if (cut.every(([, each], index) => each === entries[index]?.[1])) return value;
  // It has the same type, except for the removed parts.
  return (Array.isArray(value) ? cut.map(([, each]) => each) : Object.fromEntries(cut)) as Value;
}

/** Maximum size of a resource in characters: compiling more takes seconds, in which nobody else's changes are compiled. */
export const MAX_SIZE = 262_144;

/** Whether a value has more characters than a size. Each number, list and mapping counts as 8. */
export function isLargerThan(value: unknown, size: number): boolean {
  return remaining(value, size) < 0;
}

/** Returns what is left of a size after a value, or a negative number. */
function remaining(value: unknown, size: number): number {
  if (size < 0) return size;
  if (typeof value === "string") return size - value.length;
  if (typeof value !== "object" || value === null) return size - 8;
  let left = size - 8;
  for (const [key, each] of Object.entries(value)) {
    left = remaining(each, left - (Array.isArray(value) ? 0 : key.length));
    if (left < 0) return left;
  }
  return left;
}
