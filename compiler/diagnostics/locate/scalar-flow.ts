import { type DecodedScalar, ScalarBuilder } from "./scalar-builder.ts";

/** A plain scalar: lines are trimmed and folded. */
export function decodePlain(text: string): DecodedScalar {
  const builder = new ScalarBuilder();
  foldLines(text, 0, (line, from) => builder.copy(line, from), builder);
  return builder.finish(0);
}

/** A single-quoted scalar: lines are folded, `''` is a quote. */
export function decodeSingle(text: string): DecodedScalar {
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

/** Escape sequences of one character after the backslash (YAML 1.2.2, 5.7). */
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

/** A double-quoted scalar: lines are folded, backslashes escape characters and line breaks. */
export function decodeDouble(text: string): DecodedScalar {
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

/** Adds what the escape sequence at an offset means, and gives its length. */
function addEscape(builder: ScalarBuilder, text: string, at: number): number {
  const lineBreak = /\\\r?\n[ \t]*/y;
  lineBreak.lastIndex = at;
  const joined = lineBreak.exec(text);
  if (joined !== null) {
    // the break is escaped, empty lines after it are not
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

/** A folded line break is a space; with empty lines after it, it is one break less than there are. */
function addFold(builder: ScalarBuilder, space: string, from: number): void {
  const breaks = space.split("\n").length - 1;
  builder.add(breaks === 1 ? " " : "\n".repeat(breaks - 1), from, space.length);
}

/** Calls `addLine` with each line of a flow scalar, and adds what the breaks between them fold to. */
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
