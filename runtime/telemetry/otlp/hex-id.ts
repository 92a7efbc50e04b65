import { viewOf } from "./item-buffer.ts";

/** An id of a trace or a span: lower-case hex digits. */
export interface HexId {
  readonly text: string;
  /** The same as ASCII, from `at` on: bytes are copied faster than the characters of a text. */
  readonly digits: DataView;
  readonly at: number;
  /** What the digits stand for, from half of `at` on. */
  readonly bytes: DataView;
}

/** An id that somebody else has made. */
export function hexId(text: string): HexId {
  return new GivenId(text);
}

/** A format writes the digits or the bytes: the others are not made. */
class GivenId implements HexId {
  readonly text: string;
  readonly at = 0;
  #digits: DataView | undefined;
  #bytes: DataView | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get digits(): DataView {
    this.#digits ??= viewOf(Buffer.from(this.text, "latin1"));
    return this.#digits;
  }

  get bytes(): DataView {
    this.#bytes ??= viewOf(Buffer.from(this.text, "hex"));
    return this.#bytes;
  }
}
