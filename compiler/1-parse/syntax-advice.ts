import { type Document, visit, type YAMLError } from "yaml";

/** Description of a YAML mistake, the place to mark, and the correction. */
export interface SyntaxProblem {
  readonly problem: string;
  readonly advice: string | undefined;
  /** Offsets in the file. */
  readonly offsets: readonly [start: number, end: number];
}

/** Describes a mistake that the YAML parser found. */
export function syntaxProblem(error: YAMLError, yaml: Document, text: string): SyntaxProblem {
  const start = Math.min(error.pos[0], text.length);
  const end = Math.max(start, Math.min(error.pos[1], text.length));
  const own = error.message
    .replace(/\.$/, "")
    .replace(/^([A-Z])(?=[a-z ])/, (letter) => letter.toLowerCase());
  const found = { problem: own, advice: undefined, offsets: [start, end] as const };
  const space = FOREIGN_SPACE.exec(text.slice(0, end));
  if (space !== null) return foreignSpace(space.index + (space[1]?.length ?? 0), text);
  const marked = text.slice(start, end);
  switch (error.code) {
    case "TAB_AS_INDENT":
      return {
        ...found,
        problem: "a line is indented with a tab",
        advice: "indent with spaces",
      };
    case "BAD_INDENT":
      return openBracket(found, own, text) ?? misplacedLine(found, text);
    case "MISSING_CHAR":
      if (/quote/.test(own)) return openQuote(found, yaml, text);
      if (/map values/.test(own)) return keyWithoutColon(found, text);
      return /indicator/.test(own) ? misplacedLine(found, text) : strayToken(found, text);
    case "MULTILINE_IMPLICIT_KEY":
      return keyWithoutColon(found, text);
    case "BAD_ALIAS":
      return { ...found, problem: "a string cannot begin with *", advice: "put it in quotes" };
    case "BAD_SCALAR_START":
      return {
        ...found,
        problem: `a string cannot begin with ${own.at(-1)}`,
        advice: "put it in quotes",
      };
    case "TAG_RESOLVE_FAILED":
      return {
        ...found,
        problem: `${marked.split(/\s/)[0]} is a YAML tag, because the string begins with "!"`,
        advice: "put the whole string in single quotes",
      };
    case "UNEXPECTED_TOKEN":
      if (text[start - 1] === "$" && text[start] === "{") return bareVariable(found, text);
      if (!/["']\s*$/.test(text.slice(0, start))) return strayToken(found, text);
      return {
        ...found,
        problem: "a string that begins with a quote must end with it",
        advice: "put the whole string in single quotes: '\"admin\" in jwt.roles'",
      };
    case "BLOCK_AS_IMPLICIT_KEY":
      return blockInLine(found, own, text);
    case "BAD_DQ_ESCAPE":
      return {
        ...found,
        problem: `${/\\.+$/.exec(own)?.[0] ?? "this"} is not a valid escape in double quotes`,
        advice: "put the string in single quotes, where \\ is literal",
      };
    case "BLOCK_IN_FLOW":
      if (!marked.startsWith("-")) return pairInLine(found.offsets);
      return {
        ...found,
        problem: "lines with `- ` or keys are not allowed inside brackets",
        advice: "remove the brackets, or separate the items with commas, without `- `",
      };
    case "RESOURCE_EXHAUSTION":
      return { ...found, problem: "its lists and mappings are nested too deep" };
    default:
      return found;
  }
}

/**
 * Pattern of a character at the beginning of a line that looks like a space but is not one in YAML, as copied from web
 * pages and word processors.
 */
export const FOREIGN_SPACE = /^([ -]*)[\u00a0\u2000-\u200b\u202f\u3000]/m;

/** Describes such a character. */
export function foreignSpace(at: number, text: string): SyntaxProblem {
  const code = (text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return {
    problem: `a line is indented with a character that only looks like a space (U+${code})`,
    advice: "indent with plain spaces",
    offsets: [at, at + 1],
  };
}

/** Describes keys or list items that begin where a value on one line should end. */
function blockInLine(found: SyntaxProblem, own: string, text: string): SyntaxProblem {
  const [at] = found.offsets;
  const start = /sequence/.test(own) ? lineStartOf(text, at) : at;
  const line = restOfLine(text, start);
  const indent = line.search(/[^ ]|$/);
  const offsets = [start + indent, start + line.trimEnd().length] as const;
  if (/sequence/.test(own))
    return {
      problem: "a list item is next to a line that is not one",
      advice: "start each item with `- ` at the same column; keys have no `- `",
      offsets,
    };
  if (/:(?:\s|$)/.test(line)) return pairInLine(offsets);
  return {
    problem: "the next line is indented as if it were below this value",
    advice: "start its key at the column of the key in this line",
    offsets,
  };
}

/** Describes a second `: ` in a value, which turns the string before it into a key. */
function pairInLine(offsets: SyntaxProblem["offsets"]): SyntaxProblem {
  return {
    problem: 'YAML parses a string with ": " in it as a key and a value',
    advice: 'put a string with ": " in it in quotes',
    offsets,
  };
}

/** Describes `${NAME}` inside `{ }` or `[ ]`, where YAML parses the brace as the start of a mapping. */
function bareVariable(found: SyntaxProblem, text: string): SyntaxProblem {
  const from = found.offsets[0] - 1;
  const variable = /^\$\{[^\n}]*\}?/.exec(text.slice(from))?.[0] ?? "";
  return {
    problem: "inside { } and [ ], the brace of a variable starts a mapping",
    advice: `put it in quotes: "${variable}"`,
    offsets: [from, from + variable.length],
  };
}

/** Describes `port:3000` or `port 3000` before other keys, which YAML parses as one key with the next line. */
function keyWithoutColon(found: SyntaxProblem, text: string): SyntaxProblem {
  const lineStart = lineStartOf(text, found.offsets[0]);
  const start = lineStart + indentOf(restOfLine(text, lineStart));
  const line = restOfLine(text, start).trimEnd();
  const [, key, value] = /^([\w.-]+)\s*[:=]?\s*(\S.*)?$/.exec(line) ?? [];
  return {
    problem: "this line has no key that ends with a colon and a space",
    advice:
      key === undefined ? undefined : `write ${key}:${value === undefined ? "" : ` ${value}`}`,
    offsets: [start, start + line.length],
  };
}

/** Quotes of word processors. */
const CURLY_QUOTE = /[\u2018\u2019\u201c\u201d]/;

/** Describes a token that is not allowed after a value, or after a bracket in a line whose key has no colon. */
function strayToken(found: SyntaxProblem, text: string): SyntaxProblem {
  const [at] = found.offsets;
  const lineStart = lineStartOf(text, at);
  const before = text.slice(lineStart, at);
  const line = restOfLine(text, lineStart);
  if (found.problem.startsWith("missing ,") && !CURLY_QUOTE.test(line))
    return { ...found, problem: "a comma is missing between two items", advice: "write `, `" };
  const indent = indentOf(line);
  const whole = [lineStart + indent, lineStart + line.trimEnd().length] as const;
  if (CURLY_QUOTE.test(before) || CURLY_QUOTE.test(text[at] ?? ""))
    return {
      problem: "these are not quotes in YAML",
      advice: "write \" or '",
      offsets: whole,
    };
  if (/^[\w.-]+:?[ ]?[[{]/.test(line.slice(indent)) && !/^[\w.-]+: /.test(line.slice(indent)))
    return keyWithoutColon({ ...found, offsets: [whole[0], whole[1]] }, text);
  if (before.trim() === "")
    return {
      problem: "the line is indented less than the first one",
      advice: "start all keys of a mapping at the same column",
      offsets: whole,
    };
  return {
    ...found,
    problem: `nothing is allowed after ${text[at - 1] ?? "the value"} here`,
    advice: "remove it, or put the whole string in quotes",
  };
}

/** Marks the start of a list or mapping in brackets that continues into the next key. */
function openBracket(found: SyntaxProblem, own: string, text: string): SyntaxProblem | undefined {
  const close = /end with a (.)/.exec(own)?.[1];
  if (close === undefined) return undefined;
  const start = openIn(text.slice(0, found.offsets[0]), close === "]" ? "[" : "{");
  const line = restOfLine(text, start).trimEnd();
  if (start < 0) return undefined;
  return {
    problem: `this ${text[start]} is not closed`,
    advice: `close it with ${close}`,
    offsets: [start, start + line.length],
  };
}

/** Returns the offset of the innermost open bracket of a kind; -1 if all are closed. */
function openIn(text: string, bracket: "[" | "{"): number {
  const open: number[] = [];
  // Brackets in comments and quoted strings do not count.
  for (const { 0: found, index } of text.matchAll(TEXTS_AND_BRACKETS)) {
    if (found === "[" || found === "{") open.push(index);
    else if (found === "]" || found === "}") open.pop();
  }
  return open.findLast((at) => text[at] === bracket) ?? -1;
}

const TEXTS_AND_BRACKETS =
  /(?<=^|\s)#.*|(?<=[\s[{,:]|^)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*')|[[\]{}]/gm;

/** Describes a line whose indentation matches no key above it; names the nearest ones. */
function misplacedLine(found: SyntaxProblem, text: string): SyntaxProblem {
  const lineStart = lineStartOf(text, found.offsets[0]);
  const line = /^ *(?:- +)*[^\s:]*/.exec(text.slice(lineStart))?.[0] ?? "";
  const column = line.search(/[^ ]/);
  const keys = openKeys(text.slice(0, lineStart));
  const before = keys.findLast((each) => each.column < column);
  const after = keys.find((each) => each.column > column);
  const places = [before, after].flatMap((each) =>
    each === undefined ? [] : [`column ${each.column + 1}, like "${each.key}"`],
  );
  return {
    problem: "the indentation of this line matches no line above it",
    advice: places.length === 0 ? undefined : `start it at ${places.join(", or at ")}`,
    offsets: [lineStart + Math.max(0, column), lineStart + line.length],
  };
}

/** Returns the keys that the last line may belong to, the outermost first. */
function openKeys(text: string): readonly { readonly column: number; readonly key: string }[] {
  const open: { column: number; key: string }[] = [];
  for (const line of text.split("\n")) {
    const [, indent = "", key] = /^((?: |- )*)["']?([\w.-]+)["']?\s*:(?:\s|$)/.exec(line) ?? [];
    if (key === undefined) continue;
    const first = indent.search(/-|$/);
    while ((open.at(-1)?.column ?? -1) >= first) open.pop();
    open.push({ column: indent.length, key });
  }
  return open;
}

/** Marks the start of an unclosed quote rather than the end of the file. */
function openQuote(found: SyntaxProblem, yaml: Document, text: string): SyntaxProblem {
  let start = found.offsets[0];
  visit(yaml, {
    Scalar(_, { type, range }) {
      const isQuoted = type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE";
      if (isQuoted && range && range[0] < found.offsets[0] && range[2] >= found.offsets[0])
        start = range[0];
    },
  });
  const end = text.indexOf("\n", start);
  return {
    problem: "this quote is not closed",
    advice: "close the string with the same quote",
    offsets: [start, end < 0 ? text.length : end],
  };
}

/** Returns the start of the line that contains an offset. */
function lineStartOf(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function restOfLine(text: string, from: number): string {
  const end = text.indexOf("\n", from);
  return text.slice(from, end < 0 ? text.length : end);
}

/** Counts the characters before the first key or value of a line: spaces, and dashes of items. */
function indentOf(line: string): number {
  return /^ *(?:- +)*/.exec(line)?.[0].length ?? 0;
}
