/** What names of models look like that clients may ask for. */
export const MODEL_PATTERN = {
  pattern: "^(\\*?[^*]+|[^*]+\\*?|\\*)$",
  form: "a name with at most one `*`, at its start or end",
} as const;
