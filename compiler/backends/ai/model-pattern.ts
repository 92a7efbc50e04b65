/** What names of models look like that clients may ask for. */
export const MODEL_PATTERN = {
  pattern: "^(\\*?[^*]+|[^*]+\\*?|\\*)$",
  form: "a name with at most one `*`, at its start or end",
} as const;

/** Whether a pattern means a model of this name. */
export function meansModel(pattern: string, name: string): boolean {
  if (pattern.endsWith("*")) return name.startsWith(pattern.slice(0, -1));
  return pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** Whether there can be a model that both patterns mean. */
export function mayMeanSame(one: string, other: string): boolean {
  if (!one.includes("*")) return meansModel(other, one);
  if (!other.includes("*")) return meansModel(one, other);
  // The start of a name and the end of one fit together always.
  if (one.endsWith("*") !== other.endsWith("*")) return true;
  return meansModel(one, other.replace("*", "")) || meansModel(other, one.replace("*", ""));
}
