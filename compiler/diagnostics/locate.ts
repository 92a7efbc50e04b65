/** A YAML scalar in its file. */
export interface ScalarToken {
  /** Source of the node: including its quotes, or the header and lines of a block. */
  readonly text: string;
  /** Offset of the source in the file. */
  readonly start: number;
  readonly style: "plain" | "single" | "double" | "literal" | "folded";
  /**
   * The decoded value. It is only needed for a block with an explicit indentation (`|2`), to compute the indentation.
   */
  readonly value?: string;
}

/** A decoded scalar: the source offset of each UTF-16 unit of the value, and of its end. */
export interface DecodedScalar {
  readonly value: string;
  readonly offsets: readonly number[];
}

/**
 * Returns the offset in the file of an offset in a decoded scalar. The end of the value maps to the end of its last
 * character; larger offsets are treated as the end.
 */
export function sourceOffset(token: ScalarToken, valueOffset: number): number {
  const { offsets } = decodeScalar(token);
  const offset = offsets[Math.max(0, Math.min(valueOffset, offsets.length - 1))];
  return token.start + (offset ?? 0);
}

/** Decodes a scalar (YAML 1.2.2, chapters 7.3 and 8.1) with the source offset of each unit. */
export function decodeScalar(token: ScalarToken): DecodedScalar {
  switch (token.style) {
    case "plain":
      return decodePlain(token.text);
    case "single":
      return decodeSingle(token.text);
    case "double":
      return decodeDouble(token.text);
    case "literal":
    case "folded":
      return decodeBlock(token.text, token.style === "folded", token.value);
  }
}

/** Decodes a plain scalar: lines are trimmed and folded. */
function decodePlain(text: string): DecodedScalar {
  const builder = new ScalarBuilder();
  foldLines(text, 0, (line, from) => builder.copy(line, from), builder);
  return builder.finish(0);
}

/** Decodes a single-quoted scalar: lines are folded, `''` is a quote. */
function decodeSingle(text: string): DecodedScalar {
  const builder = new ScalarBuilder();
  const inner = text.slice(1, text.endsWith("'") && text.length > 1 ? -1 : undefined);
  const addLine = (line: string, from: number) => {
    let copied = 0;
    for (let at = line.indexOf("''"); at >= 0; at = line.indexOf("''", copied)) {
      builder.copy(line.slice(copied, at), from + copied);
      builder.add("'", from + at, 2);
      copied = at + 2;
    }
    builder.copy(line.slice(copied), from + copied);
  };
  foldLines(inner, 1, addLine, builder);
  return builder.finish(1);
}

/** Escape sequences with one character after the backslash (YAML 1.2.2, 5.7). */
const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};

const CODE_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Decodes a double-quoted scalar: lines are folded, backslashes escape characters and line breaks. */
function decodeDouble(text: string): DecodedScalar {
  const builder = new ScalarBuilder();
  const end = text.endsWith('"') && text.length > 1 ? text.length - 1 : text.length;
  let at = 1;
  while (at < end) {
    const space = /[ \t]*(?:\r?\n[ \t]*)+/y;
    space.lastIndex = at;
    const fold = space.exec(text);
    if (fold !== null && at + fold[0].length <= end) {
      addFold(builder, fold[0], at);
      at += fold[0].length;
    } else if (text[at] === "\\") {
      at += addEscape(builder, text, at);
    } else {
      builder.copy(text.slice(at, at + 1), at);
      at += 1;
    }
  }
  return builder.finish(1);
}

/** Adds the character of the escape sequence at an offset, and returns the length of the sequence. */
function addEscape(builder: ScalarBuilder, text: string, at: number): number {
  const lineBreak = /\\\r?\n[ \t]*/y;
  lineBreak.lastIndex = at;
  const joined = lineBreak.exec(text);
  if (joined !== null) {
    // The break is escaped, empty lines after it are not.
    const empty = /(?:\r?\n[ \t]*)+/y;
    empty.lastIndex = at + joined[0].length;
    const lines = empty.exec(text)?.[0] ?? "";
    if (lines !== "") addFold(builder, lines, at + joined[0].length);
    return joined[0].length + lines.length;
  }
  const char = text[at + 1] ?? "";
  const digits = CODE_LENGTHS[char];
  if (digits === undefined) {
    builder.add(ESCAPES[char] ?? char, at, 2);
    return 2;
  }
  const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
  builder.add(String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd), at, 2 + digits);
  return 2 + digits;
}

/** Adds a folded line break: a space, or one break less than there are with empty lines after it. */
function addFold(builder: ScalarBuilder, space: string, from: number): void {
  const breaks = space.split("\n").length - 1;
  builder.add(breaks === 1 ? " " : "\n".repeat(breaks - 1), from, space.length);
}

/** Calls `addLine` with each line of a flow scalar, and adds the folded breaks between them. */
function foldLines(
  text: string,
  start: number,
  addLine: (line: string, from: number) => void,
  builder: ScalarBuilder,
): void {
  let from = 0;
  for (const match of text.matchAll(/[ \t]*(?:\r?\n[ \t]*)+/g)) {
    addLine(text.slice(from, match.index), start + from);
    addFold(builder, match[0], start + match.index);
    from = match.index + match[0].length;
  }
  addLine(text.slice(from), start + from);
}

interface Line {
  /** Number of leading spaces. */
  readonly indent: number;
  /** Rest of the line, without the line break. */
  readonly content: string;
  /** Offsets of the start of the line and of its break. */
  readonly start: number;
  readonly end: number;
}

/** Decodes a block scalar, literal or folded (YAML 1.2.2, 8.1). */
function decodeBlock(text: string, isFolded: boolean, value: string | undefined): DecodedScalar {
  const header = /^[|>]([-+]?)([1-9]?)([-+]?)[^\n]*\n?/.exec(text);
  const chomp = header?.[1] || header?.[3] || "";
  const bodyStart = header?.[0].length ?? text.length;
  const lines = linesOf(text, bodyStart);
  const block = { lines, isFolded, chomp, start: bodyStart };
  const digit = header?.[2] ?? "";
  if (digit === "") return decodeLines(block, detectedIndent(lines));
  return decodeExplicit(block, Number(digit), value);
}

interface Block {
  readonly lines: readonly Line[];
  readonly isFolded: boolean;
  readonly chomp: string;
  readonly start: number;
}

/**
 * Decodes a block with an explicit indentation. It is relative to the parent, which the token does not contain, so it
 * is derived from the value.
 */
function decodeExplicit(block: Block, least: number, value: string | undefined): DecodedScalar {
  const indents = block.lines.filter(({ content }) => content !== "").map(({ indent }) => indent);
  const most = Math.max(least, Math.min(...indents));
  for (let indent = most; indent > least && value !== undefined; indent -= 1) {
    const decoded = decodeLines(block, indent);
    if (decoded.value === value) return decoded;
  }
  return decodeLines(block, value === undefined ? most : least);
}

function linesOf(text: string, from: number): readonly Line[] {
  const lines: Line[] = [];
  let start = from;
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end).replace(/\r$/, "");
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    lines.push({ indent, content: line.slice(indent), start, end: start + line.length });
    start = end + 1;
  }
  return lines;
}

/** Returns the indentation of the first line with content, or else of the longest line. */
function detectedIndent(lines: readonly Line[]): number {
  const first = lines.find(({ content }) => content !== "");
  return first?.indent ?? Math.max(0, ...lines.map(({ indent }) => indent));
}

function decodeLines(block: Block, indent: number): DecodedScalar {
  const { lines, chomp, start } = block;
  const builder = new ScalarBuilder();
  const isContent = (line: Line) => line.content !== "" || line.indent > indent;
  const last = lines.findLastIndex(isContent);
  const content = lines.slice(0, last + 1);
  if (block.isFolded) addFolded(builder, content, indent);
  else addLiteral(builder, content, indent);
  const final = content.at(-1);
  if (final !== undefined && chomp !== "-") builder.add("\n", final.end, 1);
  if (chomp === "+") {
    for (const line of lines.slice(last + 1)) builder.add("\n", line.end, 1);
  }
  return builder.finish(start);
}

function addLiteral(builder: ScalarBuilder, lines: readonly Line[], indent: number): void {
  lines.forEach((line, at) => {
    const before = lines[at - 1];
    if (before !== undefined) builder.add("\n", before.end, 1);
    addLine(builder, line, indent);
  });
}

/** Adds a break between two lines: a space, or as many breaks as there are empty lines between them. */
function addFolded(builder: ScalarBuilder, lines: readonly Line[], indent: number): void {
  const isEmpty = (line: Line) => line.content === "" && line.indent <= indent;
  const isMore = (line: Line) => line.indent > indent || line.content.startsWith("\t");
  let before: Line | undefined;
  let empty: Line[] = [];
  for (const line of lines) {
    if (isEmpty(line)) {
      empty.push(line);
      continue;
    }
    if (before === undefined) {
      for (const each of empty) builder.add("\n", each.end, 1);
    } else {
      const isKept = isMore(before) || isMore(line);
      if (empty.length === 0 || isKept) builder.add(isKept ? "\n" : " ", before.end, 1);
      for (const each of empty) builder.add("\n", each.end, 1);
    }
    addLine(builder, line, indent);
    before = line;
    empty = [];
  }
}

function addLine(builder: ScalarBuilder, line: Line, indent: number): void {
  const kept = Math.min(indent, line.indent);
  builder.copy(" ".repeat(line.indent - kept) + line.content, line.start + kept);
}

/** Builds a decoded value with the offsets of its units. */
class ScalarBuilder {
  #value = "";
  readonly #offsets: number[] = [];
  #end = 0;

  /** Adds characters that all come from one place: an escape sequence, a folded line break. */
  add(text: string, from: number, length: number): void {
    for (let at = 0; at < text.length; at += 1) this.#offsets.push(from);
    this.#value += text;
    this.#end = from + length;
  }

  /** Adds characters unchanged from the source. */
  copy(text: string, from: number): void {
    for (let at = 0; at < text.length; at += 1) this.#offsets.push(from + at);
    this.#value += text;
    this.#end = from + text.length;
  }

  get value(): string {
    return this.#value;
  }

  /** Returns the result; `empty` is the end of an empty value. */
  finish(empty: number): DecodedScalar {
    const end = this.#offsets.length === 0 ? empty : this.#end;
    return { value: this.#value, offsets: [...this.#offsets, end] };
  }
}
