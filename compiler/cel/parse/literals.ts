import type { LiteralValue } from "./ast.ts";

const INT_MAX = 2n ** 63n - 1n;
const INT_MIN = -(2n ** 63n);
const UINT_MAX = 2n ** 64n - 1n;

/** Whether an exact number is an int (64 bits, signed). */
export function isInt64(value: bigint): boolean {
  return value >= INT_MIN && value <= INT_MAX;
}

/** Whether an exact number is a uint (64 bits, unsigned). */
export function isUint64(value: bigint): boolean {
  return value >= 0n && value <= UINT_MAX;
}

/**
 * Decodes the source of a literal, which the parser has accepted. Numbers out of range are not refused here, because
 * `-9223372036854775808` is one literal with its sign.
 */
export function decodeLiteral(text: string): LiteralValue {
  if (text === "null") return { kind: "null" };
  if (text === "true" || text === "false") return { kind: "bool", value: text === "true" };
  const first = text.charCodeAt(0);
  if (first >= 48 && first <= 57) return decodeNumber(text);
  return decodeQuoted(text);
}

function decodeNumber(text: string): LiteralValue {
  const isHex = /^0x/i.test(text);
  if (/u$/i.test(text)) return { kind: "uint", value: BigInt(text.slice(0, -1)) };
  if (isHex || /^[0-9]+$/.test(text)) return { kind: "int", value: BigInt(text) };
  return { kind: "double", value: Number(text) };
}

function decodeQuoted(text: string): LiteralValue {
  const prefix = /^[bBrR]*/.exec(text)?.[0].toLowerCase() ?? "";
  const quoted = text.slice(prefix.length);
  const quotes = /^("""|'''|"|')/.exec(quoted)?.[0].length ?? 1;
  const inner = quoted.slice(quotes, quoted.length - quotes);
  const isRaw = prefix.includes("r");
  if (!prefix.includes("b")) {
    return { kind: "string", value: isRaw ? inner : unescapeText(inner) };
  }
  return { kind: "bytes", value: isRaw ? Buffer.from(inner, "utf8") : unescapeBytes(inner) };
}

/** Returns the offset in the source for each UTF-16 unit of a string literal's value, and for its end. */
export function stringOffsets(text: string): readonly number[] {
  const prefix = /^[rR]?/.exec(text)?.[0] ?? "";
  const quotes = /^("""|'''|"|')/.exec(text.slice(prefix.length))?.[0].length ?? 1;
  const start = prefix.length + quotes;
  const inner = text.slice(start, text.length - quotes);
  const offsets: number[] = [];
  let at = 0;
  while (at < inner.length) {
    ESCAPE.lastIndex = at;
    const match = prefix === "" && inner[at] === "\\" ? ESCAPE.exec(inner) : null;
    const length = match?.[0].length ?? 1;
    const units = match === null ? 1 : unescapeText(match[0]).length;
    for (let unit = 0; unit < units; unit += 1) offsets.push(start + at);
    at += length;
  }
  offsets.push(start + inner.length);
  ESCAPE.lastIndex = 0;
  return offsets;
}

const ESCAPE =
  /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([\s\S]))/g;

const CONTROL: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescapeText(inner: string): string {
  return inner.replace(ESCAPE, (_, hex2, hex4, hex8, octal, char: string) => {
    const digits: string | undefined = hex2 ?? hex4 ?? hex8;
    if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16));
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    return CONTROL[char] ?? char;
  });
}

/** Unescapes a bytes literal: `\xff` and `\377` are bytes; other characters are encoded in UTF-8. */
function unescapeBytes(inner: string): Uint8Array {
  const pieces: Buffer[] = [];
  let end = 0;
  for (const match of inner.matchAll(ESCAPE)) {
    pieces.push(Buffer.from(inner.slice(end, match.index), "utf8"));
    const [sequence, hex2, , , octal, char = ""] = match;
    if (hex2 !== undefined) pieces.push(Buffer.from([Number.parseInt(hex2, 16)]));
    else if (octal !== undefined) pieces.push(Buffer.from([Number.parseInt(octal, 8)]));
    else pieces.push(Buffer.from(CONTROL[char] ?? char, "utf8"));
    end = match.index + sequence.length;
  }
  pieces.push(Buffer.from(inner.slice(end), "utf8"));
  return new Uint8Array(Buffer.concat(pieces));
}
