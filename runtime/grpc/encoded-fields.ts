// Parts of protobuf messages that are written by hand because there are many of them: strings whose characters are bytes
// (Latin-1), which are joined faster than buffers.

/** Encodes a length-delimited field: a message, a string (`utf8`), bytes. */
export function field(number: number, value: string): string {
  return `${tag(number)}${varint(value.length)}${value}`;
}

/** Encodes a string field; empty strings are omitted, as in proto3. */
export function fieldOfText(number: number, text: string): string {
  return text === "" ? "" : field(number, utf8(text));
}

/** Encodes a field with a non-negative integer below 2^53; 0 is omitted. */
export function fieldOfNumber(number: number, value: number): string {
  return value === 0 ? "" : `${varint(number * 8)}${varint(value)}`;
}

/** Encodes the tag of a length-delimited field. */
export function tag(number: number): string {
  return varint(number * 8 + 2);
}

/** Encodes a non-negative integer below 2^53. */
export function varint(value: number): string {
  if (value < 128) return char(value);
  return char((value % 128) | 128) + varint(Math.floor(value / 128));
}

/** Encodes a negative number: two's complement in 64 bits. */
export function negative(value: number): string {
  let rest = BigInt.asUintN(64, BigInt(value));
  let text = "";
  for (; rest > 127n; rest >>= 7n) text += char(Number(rest & 127n) | 128);
  return text + char(Number(rest));
}

/** Encodes a string in UTF-8. */
export function utf8(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value).toString("latin1");
}

/** Encodes one byte. */
export function char(byte: number): string {
  return String.fromCharCode(byte);
}

const ASCII = /^[\x00-\x7f]*$/;
