import { endianness } from "node:os";

/**
 * Returns the UTF-16 units of a text at the start of an array, valid until the next call. Engines read numbers from memory in
 * half the time that characters of a string take.
 */
export function textCodes(text: string): Uint16Array {
  const isLong = text.length > SCRATCH.length;
  const codes = isLong ? new Uint16Array(text.length) : SCRATCH;
  const bytes = isLong ? Buffer.from(codes.buffer) : SCRATCH_BYTES;
  const written = bytes.write(text, "utf16le");
  if (IS_BIG_ENDIAN) bytes.subarray(0, written).swap16();
  return codes;
}

const IS_BIG_ENDIAN = endianness() === "BE";
const SCRATCH = new Uint16Array(16_384);
const SCRATCH_BYTES = Buffer.from(SCRATCH.buffer);
