// Parts of messages of protobuf, written by hand where many are: texts whose characters are bytes (Latin-1), which are
// joined faster than bytes are.

/** A field whose value has a length: a message, a text (`utf8`), bytes. */
export function field(number: number, value: string): string {
  return `${tag(number)}${varint(value.length)}${value}`;
}

/** A field of text; without one it is left out, as proto3 has it. */
export function fieldOfText(number: number, text: string): string {
  return text === "" ? "" : field(number, utf8(text));
}

/** A field of a whole number below 2^53 that is not negative; 0 is left out. */
export function fieldOfNumber(number: number, value: number): string {
  return value === 0 ? "" : `${varint(number * 8)}${varint(value)}`;
}

/** The beginning of a field whose value has a length. */
export function tag(number: number): string {
  return varint(number * 8 + 2);
}

/** A number below 2^53 that is not negative. */
export function varint(value: number): string {
  if (value < 128) return char(value);
  return char((value % 128) | 128) + varint(Math.floor(value / 128));
}

/** A negative number: two's complement in 64 bits. */
export function negative(value: number): string {
  let rest = BigInt.asUintN(64, BigInt(value));
  let text = "";
  for (; rest > 127n; rest >>= 7n) text += char(Number(rest & 127n) | 128);
  return text + char(Number(rest));
}

/** The bytes of a text in UTF-8. */
export function utf8(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value).toString("latin1");
}

/** One byte. */
export function char(byte: number): string {
  return String.fromCharCode(byte);
}

const ASCII = /^[\x00-\x7f]*$/;
