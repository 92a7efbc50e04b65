import type { Span } from "./ast.ts";

/** What was probably meant where reading stopped. */
export interface SyntaxHint {
  /** What is no CEL, as it is written. */
  readonly word: string;
  /** Where that stands. */
  readonly within: Span;
  /** What CEL has for it. */
  readonly advice: string;
}

/** What other languages write, and CEL for it. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["and", "`and` is written `&&`"],
  ["or", "`or` is written `||`"],
  ["not", "`not` is written `!`"],
  ["if", "a choice is written `test ? a : b`"],
  ["is", "equality is written `==`"],
  ["like", 'a pattern is tested by `text.matches("pattern")`'],
  ["contains", 'a text in a text is found by `text.contains("part")`'],
]);

const EQUALITY = "equality is written `==`";
const INEQUALITY = "inequality is written `!=`";
const QUOTES = "strings stand in straight quotes";

/** The longest come first. */
const MARKS: readonly (readonly [mark: string, advice: string])[] = [
  ["===", EQUALITY],
  ["!==", INEQUALITY],
  ["=~", 'a pattern is tested by `text.matches("pattern")`'],
  ["<>", INEQUALITY],
  ["??", "a value for what is absent is given by `default(value, other)`"],
  ["=", EQUALITY],
  ["&", "`and` is written `&&`"],
  ["|", "`or` is written `||`"],
  ["\u201c", QUOTES],
  ["\u201d", QUOTES],
  ["\u2018", QUOTES],
  ["\u2019", QUOTES],
];

/** How far back a word is looked for. */
const NEAR = 40;

/** What was probably meant where reading stopped; undefined when that is not known. */
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

/** Whether the character at a place is one of an operator of CEL. */
function isOperator(text: string, at: number): boolean {
  return OPERATORS.some((each) => text.startsWith(each, at) || text.startsWith(each, at - 1));
}

function wordHint(word: string, start: number): SyntaxHint | undefined {
  const advice = WORDS.get(word);
  return advice === undefined ? undefined : { word, within: [start, start + word.length], advice };
}
