import { type Document, visit, type YAMLError } from "yaml";

/** What a mistake of YAML is in plain words, where to mark it, and what to write instead. */
export interface SyntaxProblem {
  readonly problem: string;
  readonly advice: string | undefined;
  /** Offsets in the file. */
  readonly offsets: readonly [start: number, end: number];
}

/** A mistake that the YAML parser found, as people make it. */
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
        problem: "a tab stands where a line is indented",
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
      return { ...found, problem: "a text can't begin with *", advice: "put it in quotes" };
    case "BAD_SCALAR_START":
      return {
        ...found,
        problem: `a text can't begin with ${own.at(-1)}`,
        advice: "put it in quotes",
      };
    case "TAG_RESOLVE_FAILED":
      return {
        ...found,
        problem: `${marked.split(/\s/)[0]} is a tag of YAML, for the text begins with "!"`,
        advice: "put the whole text in single quotes",
      };
    case "UNEXPECTED_TOKEN":
      if (text[start - 1] === "$" && text[start] === "{") return bareVariable(found, text);
      if (!/["']\s*$/.test(text.slice(0, start))) return strayToken(found, text);
      return {
        ...found,
        problem: "a text that begins with a quote ends with it",
        advice: "put the whole text in single quotes: '\"admin\" in jwt.roles'",
      };
    case "BLOCK_AS_IMPLICIT_KEY":
      return blockInLine(found, own, text);
    case "BAD_DQ_ESCAPE":
      return {
        ...found,
        problem: `${/\\.+$/.exec(own)?.[0] ?? "this"} is no escape of a text in double quotes`,
        advice: "put the text in single quotes, where \\ is itself",
      };
    case "BLOCK_IN_FLOW":
      if (!marked.startsWith("-")) return pairInLine(found.offsets);
      return {
        ...found,
        problem: "no lines of `- ` and of keys can stand inside brackets",
        advice: "leave the brackets out, or separate the items by commas, without `- `",
      };
    case "RESOURCE_EXHAUSTION":
      return { ...found, problem: "its lists and mappings nest too deep to be read" };
    default:
      return found;
  }
}

/** A space at the beginning of a line that is none to YAML, as web pages and word processors have it. */
export const FOREIGN_SPACE = /^([ -]*)[\u00a0\u2000-\u200b\u202f\u3000]/m;

/** What is said of such a space. */
export function foreignSpace(at: number, text: string): SyntaxProblem {
  const code = (text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return {
    problem: `a character that only looks like a space (U+${code}) stands where a line is indented`,
    advice: "indent with plain spaces",
    offsets: [at, at + 1],
  };
}

/** Keys or items of a list that begin where a value on one line was meant to end. */
function blockInLine(found: SyntaxProblem, own: string, text: string): SyntaxProblem {
  const [at] = found.offsets;
  const start = /sequence/.test(own) ? lineStartOf(text, at) : at;
  const line = restOfLine(text, start);
  const indent = line.search(/[^ ]|$/);
  const offsets = [start + indent, start + line.trimEnd().length] as const;
  if (/sequence/.test(own))
    return {
      problem: "an item of a list stands beside what is none",
      advice: "each item begins with `- `, at the same column; keys have none",
      offsets,
    };
  if (/:(?:\s|$)/.test(line)) return pairInLine(offsets);
  return {
    problem: "the next line is indented as if it were below this value",
    advice: "begin its key at the column of the key in this line",
    offsets,
  };
}

/** A second `: ` in a value, which makes a key of what stands before it. */
function pairInLine(offsets: SyntaxProblem["offsets"]): SyntaxProblem {
  return {
    problem: 'a text with ": " in it is a key and its value to YAML',
    advice: 'a text with ": " in it stands in quotes',
    offsets,
  };
}

/** `${NAME}` inside `{ }` or `[ ]`, where YAML takes the brace for the beginning of a mapping. */
function bareVariable(found: SyntaxProblem, text: string): SyntaxProblem {
  const from = found.offsets[0] - 1;
  const variable = /^\$\{[^\n}]*\}?/.exec(text.slice(from))?.[0] ?? "";
  return {
    problem: "the brace of a variable begins a mapping inside { } and [ ]",
    advice: `put it in quotes: "${variable}"`,
    offsets: [from, from + variable.length],
  };
}

/** `port:3000` or `port 3000` before other keys, where YAML takes both lines for one key. */
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

/** Quotes as word processors write them. */
const CURLY_QUOTE = /[\u2018\u2019\u201c\u201d]/;

/** What stands where YAML has no place for it: behind a value, or a bracket of a line whose key has no colon. */
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
      problem: "these are no quotes that YAML knows",
      advice: "write \" or '",
      offsets: whole,
    };
  if (/^[\w.-]+:?[ ]?[[{]/.test(line.slice(indent)) && !/^[\w.-]+: /.test(line.slice(indent)))
    return keyWithoutColon({ ...found, offsets: [whole[0], whole[1]] }, text);
  if (before.trim() === "")
    return {
      problem: "the line is indented less than the first one",
      advice: "begin all keys of a mapping at the same column",
      offsets: whole,
    };
  return {
    ...found,
    problem: `nothing can stand behind ${text[at - 1] ?? "the value"} here`,
    advice: "remove it, or put the whole text in quotes",
  };
}

/** A list or mapping in brackets that goes on into the next key is marked where it begins. */
function openBracket(found: SyntaxProblem, own: string, text: string): SyntaxProblem | undefined {
  const close = /end with a (.)/.exec(own)?.[1];
  if (close === undefined) return undefined;
  const start = openIn(text.slice(0, found.offsets[0]), close === "]" ? "[" : "{");
  const line = restOfLine(text, start).trimEnd();
  if (start < 0) return undefined;
  return {
    problem: `this ${text[start]} is not closed`,
    advice: `end it with ${close}`,
    offsets: [start, start + line.length],
  };
}

/** Where the innermost bracket of a kind stands that a text opens and does not close; -1: there is none. */
function openIn(text: string, bracket: "[" | "{"): number {
  const open: number[] = [];
  // Comments and quoted texts have brackets that open nothing.
  for (const { 0: found, index } of text.matchAll(TEXTS_AND_BRACKETS)) {
    if (found === "[" || found === "{") open.push(index);
    else if (found === "]" || found === "}") open.pop();
  }
  return open.findLast((at) => text[at] === bracket) ?? -1;
}

const TEXTS_AND_BRACKETS =
  /(?<=^|\s)#.*|(?<=[\s[{,:]|^)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*')|[[\]{}]/gm;

/** A line that begins where none of the keys above it does; the nearest of these are named. */
function misplacedLine(found: SyntaxProblem, text: string): SyntaxProblem {
  const lineStart = lineStartOf(text, found.offsets[0]);
  const line = /^ *(?:- +)*[^\s:]*/.exec(text.slice(lineStart))?.[0] ?? "";
  const column = line.search(/[^ ]/);
  const keys = openKeys(text.slice(0, lineStart));
  const before = keys.findLast((each) => each.column < column);
  const after = keys.find((each) => each.column > column);
  const places = [before, after].flatMap((each) =>
    each === undefined ? [] : [`column ${each.column + 1}, beside "${each.key}"`],
  );
  return {
    problem: "the line is indented like no other above it",
    advice: places.length === 0 ? undefined : `begin it at ${places.join(", or at ")}`,
    offsets: [lineStart + Math.max(0, column), lineStart + line.length],
  };
}

/** The keys that the last line of a text stands below or beside, the outermost first. */
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

/** A quote that is not closed is marked where it begins: the end of the file is where nobody looks. */
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
    advice: "a quote stands at both ends of a text",
    offsets: [start, end < 0 ? text.length : end],
  };
}

/** Where the line begins that an offset is in. */
function lineStartOf(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function restOfLine(text: string, from: number): string {
  const end = text.indexOf("\n", from);
  return text.slice(from, end < 0 ? text.length : end);
}

/** How many characters stand before a line's first key or text: blanks, and dashes of items. */
function indentOf(line: string): number {
  return /^ *(?:- +)*/.exec(line)?.[0].length ?? 0;
}
