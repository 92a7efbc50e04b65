import type { Span } from "./ast.ts";

/** What other languages write, and CEL for it. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["and", "`and` is written `&&`"],
  ["or", "`or` is written `||`"],
  ["not", "`not` is written `!`"],
  ["if", "a choice is written `test ? a : b`"],
]);

const MARKS: ReadonlyMap<string, string> = new Map([
  ["=", "equality is written `==`"],
  ["&", "`and` is written `&&`"],
  ["|", "`or` is written `||`"],
  ["<>", "inequality is written `!=`"],
  ["\u201c", "strings stand in straight quotes"],
  ["\u201d", "strings stand in straight quotes"],
  ["\u2018", "strings stand in straight quotes"],
  ["\u2019", "strings stand in straight quotes"],
]);

/** How far back a word is looked for. */
const NEAR = 40;

/** What was probably meant where reading stopped; undefined when that is not known. */
export function syntaxHint(text: string, [start]: Span): string | undefined {
  const mark = MARKS.get(text.slice(start - 1, start + 1)) ?? MARKS.get(text.charAt(start));
  if (mark !== undefined) return mark;
  const before = /(\w+)\s+\w*$/.exec(text.slice(Math.max(0, start - NEAR), start))?.[1];
  const begun = /\w*$/.exec(text.slice(0, start))?.[0] ?? "";
  const rest = /^\w*/.exec(text.slice(start))?.[0] ?? "";
  return WORDS.get(begun + rest) ?? (before === "not" ? WORDS.get(before) : undefined);
}
