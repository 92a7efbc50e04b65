/** Returns the regular expression (for RE2 and JavaScript) that matches exactly one string. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
