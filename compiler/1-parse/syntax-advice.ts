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
  const marked = text.slice(start, end);
  switch (error.code) {
    case "TAB_AS_INDENT":
      return {
        ...found,
        problem: "a tab stands where a line is indented",
        advice: "indent with spaces",
      };
    case "BAD_INDENT":
      return misplacedLine(found, text);
    case "MISSING_CHAR":
      return /quote/.test(own) ? openQuote(found, yaml, text) : found;
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
      if (!/["']\s*$/.test(text.slice(0, start))) return found;
      return {
        ...found,
        problem: "a text that begins with a quote ends with it",
        advice: "put the whole text in single quotes: '\"admin\" in jwt.roles'",
      };
    case "BLOCK_AS_IMPLICIT_KEY":
      return { ...found, advice: 'a text with ": " in it stands in quotes' };
    case "RESOURCE_EXHAUSTION":
      return { ...found, problem: "its lists and mappings nest too deep to be read" };
    default:
      return found;
  }
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

/** A line that begins where none of the keys above it does; the nearest of these are named. */
function misplacedLine(found: SyntaxProblem, text: string): SyntaxProblem {
  const lineStart = text.lastIndexOf("\n", found.offsets[0] - 1) + 1;
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
