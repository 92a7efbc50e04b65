/** The regular expression (RE2, and JavaScript's) of one text alone. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
