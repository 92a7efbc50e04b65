import { RE2JS } from "re2js";

/** A pattern that the build has checked. */
export type Pattern = RE2JS;

/** Maximum length of patterns that are computed at run time, and maximum size of their programs. */
const MAX_PATTERN_LENGTH = 256;
const MAX_PROGRAM = 1_000;
/** Maximum length of a string that replacing makes longer, because matching takes time. */
const MAX_REPLACED = 1_000_000;

/** Compiles a pattern in RE2 syntax that the build has checked. */
export function compilePattern(pattern: string): Pattern {
  return RE2JS.compile(pattern);
}

/** Whether a pattern matches anywhere in a string; linear in its length. */
export function matchesPart(pattern: Pattern, text: string): boolean {
  return pattern.test(text);
}

/** Whether a pattern matches a whole string; linear in its length. */
export function matchesWhole(pattern: Pattern, text: string): boolean {
  return pattern.testExact(text);
}

/** Tests a value if it is a string. */
export function testText(value: unknown, test: (text: string) => boolean): boolean | undefined {
  return typeof value === "string" ? test(value) : undefined;
}

/** `text.matches(pattern)` with a pattern that is computed at run time; invalid RE2 is an error. */
export function matchesAnywhere(text: unknown, pattern: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof pattern !== "string") return undefined;
  return compileAtRunTime(pattern)?.test(text);
}

/**
 * `text.regexReplace(pattern, replacement)` with a constant pattern. A result that is longer than the string and than the
 * maximum is an error.
 */
export function replacePattern(
  text: unknown,
  pattern: Pattern,
  replacement: unknown,
): string | undefined {
  if (typeof text !== "string" || typeof replacement !== "string") return undefined;
  const longest = Math.max(text.length, MAX_REPLACED);
  if (lengthAfter(text, pattern, replacement, longest) > longest) return undefined;
  try {
    const replaced = pattern.matcher(text).replaceAll(replacement);
    return replaced.length > longest ? undefined : replaced;
  } catch {
    // the replacement names a group that the pattern does not have
    return undefined;
  }
}

/** Returns the minimum length after replacing, without the groups of matches. Stops counting beyond the maximum. */
function lengthAfter(text: string, pattern: Pattern, replacement: string, longest: number): number {
  let length = text.length;
  if (length + (length + 1) * replacement.length <= longest) return length;
  const matcher = pattern.matcher(text);
  while (length <= longest && matcher.find()) {
    length += replacement.length - (matcher.end() - matcher.start());
  }
  return length;
}

/** `text.regexReplace(pattern, replacement)`: `$1` and `${name}` in the replacement are groups. */
export function regexReplace(
  text: unknown,
  pattern: unknown,
  replacement: unknown,
): string | undefined {
  if (typeof pattern !== "string") return undefined;
  const compiled = compileAtRunTime(pattern);
  return compiled === undefined ? undefined : replacePattern(text, compiled, replacement);
}

function compileAtRunTime(pattern: string): Pattern | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() <= MAX_PROGRAM ? compiled : undefined;
  } catch {
    return undefined;
  }
}
