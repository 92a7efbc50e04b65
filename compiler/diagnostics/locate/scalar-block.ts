import { type DecodedScalar, ScalarBuilder } from "./scalar-builder.ts";

interface Line {
  /** Leading spaces. */
  readonly indent: number;
  /** What follows them, without the line break. */
  readonly content: string;
  /** Where the line begins, and where its break stands. */
  readonly start: number;
  readonly end: number;
}

/** A block scalar, literal or folded (YAML 1.2.2, 8.1). */
export function decodeBlock(
  text: string,
  isFolded: boolean,
  value: string | undefined,
): DecodedScalar {
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

/** An explicit indentation counts from that of the parent, which the token does not tell: the value decides. */
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

/** The indentation of the first line with content; without one, of the longest line. */
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

/** A break between two lines of text is a space, or, with empty lines between, as many breaks as there are of these. */
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
