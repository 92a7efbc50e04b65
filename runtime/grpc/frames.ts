import { grpcStatus } from "../http/grpc-status.ts";
import { MiB } from "../process/units.ts";
import { GrpcError } from "./status.ts";

/** The longest message that a server may send. */
const MAX_MESSAGE = 4 * MiB;

/** Bytes before each message: whether it is compressed, and its length (grpc.io, PROTOCOL-HTTP2). */
const PREFIX_LENGTH = 5;

/** A message as it goes over the wire; never compressed. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  frame[0] = 0;
  frame.set(message, frame.writeUInt32BE(message.length, 1));
  return frame;
}

/** The same with a message whose bytes are the characters of a text (`encoded-fields.ts`). */
export function textFrameOf(message: string): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  frame[0] = 0;
  frame.write(message, frame.writeUInt32BE(message.length, 1), "latin1");
  return frame;
}

/** What stands before a message of so many bytes on the wire, a byte in each character. */
export function framePrefix(length: number): string {
  const bytes = [length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255];
  return String.fromCharCode(0, ...bytes);
}

/** Cuts what a server sends into messages, wherever it is cut into pieces. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #held = 0;
  /** Bytes of the message that comes, with its prefix; undefined: its prefix is not there. */
  #wanted: number | undefined;

  /** The messages that are whole with this piece. Throws GrpcError on one that can't be taken. */
  push(piece: Buffer): readonly Uint8Array[] {
    this.#pieces.push(piece);
    this.#held += piece.length;
    const messages: Uint8Array[] = [];
    for (;;) {
      this.#wanted ??= this.#readPrefix();
      if (this.#wanted === undefined || this.#held < this.#wanted) return messages;
      const whole = this.#joined();
      messages.push(whole.subarray(PREFIX_LENGTH, this.#wanted));
      const rest = whole.subarray(this.#wanted);
      this.#pieces = rest.length === 0 ? [] : [rest];
      this.#held = rest.length;
      this.#wanted = undefined;
    }
  }

  /** A message has begun and is not whole. */
  get isInside(): boolean {
    return this.#held > 0;
  }

  #readPrefix(): number | undefined {
    if (this.#held < PREFIX_LENGTH) return undefined;
    const [first] = this.#pieces;
    const head = first !== undefined && first.length >= PREFIX_LENGTH ? first : this.#joined();
    if (head[0] !== 0) throw new GrpcError(grpcStatus.internal, "a compressed message");
    const length = head.readUInt32BE(1);
    if (length > MAX_MESSAGE) {
      throw new GrpcError(grpcStatus.resourceExhausted, `a message of ${length} bytes`);
    }
    return PREFIX_LENGTH + length;
  }

  #joined(): Buffer {
    const [first] = this.#pieces;
    if (this.#pieces.length === 1 && first !== undefined) return first;
    const whole = Buffer.concat(this.#pieces, this.#held);
    this.#pieces = [whole];
    return whole;
  }
}
