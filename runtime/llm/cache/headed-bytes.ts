/** Bytes with a description in front of them, as they are kept in a store. */
export interface HeadedBytes {
  /** A value of JSON. */
  readonly head: unknown;
  readonly body: Buffer;
}

/** Returns the form in a store: a line of JSON, then the bytes. */
export function headedBytes(head: unknown, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** Reads that form; `undefined` if it is damaged. */
export function readHeadedBytes(bytes: Buffer): HeadedBytes | undefined {
  const end = bytes.indexOf(0x0a);
  if (end === -1) return undefined;
  try {
    return { head: JSON.parse(bytes.toString("utf8", 0, end)), body: bytes.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
