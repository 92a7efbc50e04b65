/** Reads the text messages that a server sends over a WebSocket (RFC 6455), as its bytes pass. */
export class TextFrames {
  readonly #limit: number;
  /** The beginning of a frame whose head is not complete. */
  #rest: Buffer = Buffer.alloc(0);
  #frame: Frame | undefined;
  /** The pieces of a text; undefined while there is none, or none that is read. */
  #text: Buffer[] | undefined;
  #length = 0;

  /** `limit`: the most bytes of a message that is read; longer ones are passed over. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The texts that a piece of the connection completes. */
  push(chunk: Buffer): readonly Buffer[] {
    const texts: Buffer[] = [];
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = Buffer.alloc(0);
    for (;;) {
      this.#frame ??= this.#nextFrame(bytes);
      const frame = this.#frame;
      if (frame === undefined) {
        this.#rest = bytes;
        return texts;
      }
      const piece = bytes.subarray(frame.skip, frame.skip + frame.left);
      bytes = bytes.subarray(frame.skip + piece.length);
      frame.skip = 0;
      frame.left -= piece.length;
      if (!frame.isControl) this.#keep(piece);
      if (frame.left > 0) return texts;
      this.#frame = undefined;
      if (frame.isLast && this.#text !== undefined) {
        texts.push(Buffer.concat(this.#text));
        this.#text = undefined;
      }
    }
  }

  #nextFrame(bytes: Buffer): Frame | undefined {
    const head = readHead(bytes);
    if (head === undefined) return undefined;
    const { length: skip, kind, isFinal, payload: left } = head;
    // Control frames may stand between those of a message.
    const isControl = kind >= 0x8;
    if (!isControl && kind !== CONTINUATION) {
      this.#text = kind === TEXT_KIND ? [] : undefined;
      this.#length = 0;
    }
    return { skip, left, isControl, isLast: isFinal && !isControl };
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit) this.#text = undefined;
    else this.#text?.push(piece);
  }
}

/** A frame whose payload comes. */
interface Frame {
  /** Bytes of its head that have not been passed over. */
  skip: number;
  /** Bytes that are still to come. */
  left: number;
  readonly isControl: boolean;
  /** Of its message. */
  readonly isLast: boolean;
}

interface FrameHead {
  /** In bytes. */
  readonly length: number;
  readonly kind: number;
  readonly isFinal: boolean;
  /** In bytes. */
  readonly payload: number;
}

const CONTINUATION = 0x0;
const TEXT_KIND = 0x1;

/** The head of a frame of a server, which masks nothing; undefined: it is not complete. */
function readHead(bytes: Buffer): FrameHead | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const length = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < length) return undefined;
  const payload =
    length === 2 ? short : length === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { length, kind: first & 0x0f, isFinal: (first & 0x80) !== 0, payload };
}
