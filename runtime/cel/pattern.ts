import { RE2JS } from "re2js";

/** A pattern that was checked at build. */
export type Pattern = RE2JS;

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
  return pattern.matches(text);
}

/** A test of a string on a value that may be none. */
export function testText(value: unknown, test: (text: string) => boolean): boolean | undefined {
  return typeof value === "string" ? test(value) : undefined;
}
