import { RE2JS } from "re2js";

/** A pattern that was checked at build. */
export type Pattern = RE2JS;

/** The longest pattern that is only known at run time, and the largest program it may become. */
const MAX_PATTERN_LENGTH = 256;
const MAX_PROGRAM = 1_000;
/** How long replacing may make a text: matching takes its time. */
const MAX_REPLACED = 1_000_000;

/** Compiles a pattern of RE2 syntax; the build has checked it. */
export function compilePattern(pattern: string): Pattern {
  return RE2JS.compile(pattern);
}

/** Whether a pattern matches anywhere in a text; linear in its length. */
export function matchesPart(pattern: Pattern, text: string): boolean {
  return pattern.test(text);
}

/** Whether a pattern matches a whole text; linear in its length. */
export function matchesWhole(pattern: Pattern, text: string): boolean {
  return pattern.testExact(text);
}

/** A test of a string on a value that may be none. */
export function testText(value: unknown, test: (text: string) => boolean): boolean | undefined {
  return typeof value === "string" ? test(value) : undefined;
}

/** `text.matches(pattern)` with a pattern that is only known now; one that is no RE2 is an error. */
export function matchesAnywhere(text: unknown, pattern: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof pattern !== "string") return undefined;
  return compileAtRunTime(pattern)?.test(text);
}

/**
 * `text.regexReplace(pattern, replacement)` with a pattern that was checked at build. A text that gets longer by it, and
 * longer than the bound, is an error.
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

/** How long a text gets by replacing, groups of the matches not counted; no more is counted than may be. */
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
