import type { Span } from "./ast.ts";

/** Hint about the probable meaning of a syntax error. */
export interface SyntaxHint {
  /** Invalid word, as written. */
  readonly word: string;
  /** Place of the word. */
  readonly within: Span;
  /** Equivalent in CEL. */
  readonly advice: string;
}

/** Words of other languages, and their equivalents in CEL. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["and", "use `&&` for `and`"],
  ["or", "use `||` for `or`"],
  ["not", "use `!` for `not`"],
  ["if", "use `test ? a : b` for a choice"],
  ["is", "use `==` for equality"],
  ["like", 'use `text.matches("pattern")` to match a pattern'],
  ["contains", 'use `text.contains("part")` to find a substring'],
]);

const EQUALITY = "use `==` for equality";
const INEQUALITY = "use `!=` for inequality";
const QUOTES = "use straight quotes for strings";

/** Operators of other languages, the longest first. */
const MARKS: readonly (readonly [mark: string, advice: string])[] = [
  ["===", EQUALITY],
  ["!==", INEQUALITY],
  ["=~", 'use `text.matches("pattern")` to match a pattern'],
  ["<>", INEQUALITY],
  ["??", "use `default(value, other)` for a missing value"],
  ["=", EQUALITY],
  ["&", "use `&&` for `and`"],
  ["|", "use `||` for `or`"],
  ["\u201c", QUOTES],
  ["\u201d", QUOTES],
  ["\u2018", QUOTES],
  ["\u2019", QUOTES],
];

/** Maximum distance of a word before the error. */
const NEAR = 40;

/** Returns a hint for the place where parsing stopped; `undefined` if there is none. */
export function syntaxHint(text: string, [start]: Span): SyntaxHint | undefined {
  for (const [mark, advice] of MARKS) {
    const at = text.lastIndexOf(mark, start);
    if (at >= 0 && at + mark.length >= start && (mark.length > 1 || !isOperator(text, at)))
      return { word: mark, within: [at, at + mark.length], advice };
  }
  const begun = /\w*$/.exec(text.slice(Math.max(0, start - NEAR), start))?.[0] ?? "";
  const rest = /^\w*/.exec(text.slice(start))?.[0] ?? "";
  const here = wordHint(begun + rest, start - begun.length);
  if (here !== undefined) return here;
  const before = /\b(not)\s+\w*$/.exec(text.slice(Math.max(0, start - NEAR), start));
  return before === null
    ? undefined
    : wordHint(before[1] ?? "", Math.max(0, start - NEAR) + before.index);
}

const OPERATORS = ["&&", "||", "==", "!=", "<=", ">="];

/** Whether the character at an offset belongs to an operator of CEL. */
function isOperator(text: string, at: number): boolean {
  return OPERATORS.some((each) => text.startsWith(each, at) || text.startsWith(each, at - 1));
}

function wordHint(word: string, start: number): SyntaxHint | undefined {
  const advice = WORDS.get(word);
  return advice === undefined ? undefined : { word, within: [start, start + word.length], advice };
}
