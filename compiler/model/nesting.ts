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
