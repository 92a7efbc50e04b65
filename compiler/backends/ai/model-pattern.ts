/** Format of model names that clients can use. */
export const MODEL_PATTERN = {
  pattern: "^(\\*?[^*]+|[^*]+\\*?|\\*)$",
  form: "a name with at most one `*`, at its start or end",
} as const;

/** Whether a pattern matches a model name. */
export function meansModel(pattern: string, name: string): boolean {
  if (pattern.endsWith("*")) return name.startsWith(pattern.slice(0, -1));
  return pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** Whether any model name matches both patterns. */
export function mayMeanSame(one: string, other: string): boolean {
  if (!one.includes("*")) return meansModel(other, one);
  if (!other.includes("*")) return meansModel(one, other);
  // Any prefix and any suffix have a common match.
  if (one.endsWith("*") !== other.endsWith("*")) return true;
  return meansModel(one, other.replace("*", "")) || meansModel(other, one.replace("*", ""));
}
