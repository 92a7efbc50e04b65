/** An id of a trace or a span: lower-case hex digits. */
export interface HexId {
  readonly text: string;
  /** The same as ASCII, from `at` on: bytes are copied faster than the characters of a text. */
  readonly digits: Uint8Array;
  readonly at: number;
  /** What the digits stand for, from half of `at` on. */
  readonly bytes: Uint8Array;
}

/** An id that somebody else has made. */
export function hexId(text: string): HexId {
  return { text, digits: Buffer.from(text, "latin1"), at: 0, bytes: Buffer.from(text, "hex") };
}
