/** Reads the text messages that a server sends over a WebSocket (RFC 6455), while its bytes pass through. */
export class TextFrames {
  readonly #limit: number;
  /** Start of a frame whose head is incomplete. */
  #rest: Buffer = Buffer.alloc(0);
  #frame: Frame | undefined;
  /** Pieces of the current text; `undefined` if there is no text, or it is skipped. */
  #text: Buffer[] | undefined;
  #length = 0;

  /** `limit`: maximum bytes of a message; longer ones are skipped. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the texts that a chunk of the connection completes. */
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
      if (!frame.isControl) this.#collect(piece);
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
    // Control frames may occur between those of a message.
    const isControl = kind >= 0x8;
    if (!isControl && kind !== CONTINUATION) {
      this.#text = kind === TEXT_KIND ? [] : undefined;
      this.#length = 0;
    }
    return { skip, left, isControl, isLast: isFinal && !isControl };
  }

  #collect(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit) this.#text = undefined;
    else this.#text?.push(piece);
  }
}

/** A frame whose payload is incomplete. */
interface Frame {
  /** Bytes of its head that have not been skipped. */
  skip: number;
  /** Remaining bytes. */
  left: number;
  readonly isControl: boolean;
  /** Whether it is the last frame of its message. */
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

/** Reads the head of a server's frame, which is never masked; `undefined` if it is incomplete. */
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
