import { viewOf } from "./item-buffer.ts";

/** An id of a trace or a span: lower-case hex digits. */
export interface HexId {
  readonly text: string;
  /** The digits as ASCII, starting at `at`: bytes are copied faster than characters of a string. */
  readonly digits: DataView;
  readonly at: number;
  /** The decoded bytes, starting at half of `at`. */
  readonly bytes: DataView;
}

/** Returns an id from a client. */
export function hexId(text: string): HexId {
  return new GivenId(text);
}

/** A format writes either the digits or the bytes, so each is created on demand. */
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
