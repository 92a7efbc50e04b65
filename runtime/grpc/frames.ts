import { grpcStatus } from "../http/grpc-status.ts";
import { MiB } from "../process/units.ts";
import { GrpcError } from "./status.ts";

/** Maximum number of bytes of a server's message. */
const MAX_MESSAGE = 4 * MiB;

/** Length of the prefix of each message: a compression flag and the message's length (grpc.io, PROTOCOL-HTTP2). */
const PREFIX_LENGTH = 5;

/** Frames a message, uncompressed. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  frame[0] = 0;
  frame.set(message, frame.writeUInt32BE(message.length, 1));
  return frame;
}

/** Frames a message that is given as a string of bytes (`encoded-fields.ts`). */
export function textFrameOf(message: string): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  frame[0] = 0;
  frame.write(message, frame.writeUInt32BE(message.length, 1), "latin1");
  return frame;
}

/** Returns the prefix of a message as a string of bytes. */
export function framePrefix(length: number): string {
  const bytes = [length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255];
  return String.fromCharCode(0, ...bytes);
}

/** Splits a server's data into messages, whatever pieces it arrives in. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #held = 0;
  /** Length of the current message with its prefix; `undefined` until the prefix is complete. */
  #wanted: number | undefined;

  /** Returns the messages that this piece completes. Throws GrpcError on an unsupported one. */
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

  /** Whether a message is incomplete. */
  get isInside(): boolean {
    return this.#held > 0;
  }

  #readPrefix(): number | undefined {
    if (this.#held < PREFIX_LENGTH) return undefined;
    const [first] = this.#pieces;
    const head = first !== undefined && first.length >= PREFIX_LENGTH ? first : this.#joined();
    if (head[0] !== 0)
      throw new GrpcError(grpcStatus.internal, "compressed messages are not supported");
    const length = head.readUInt32BE(1);
    if (length > MAX_MESSAGE) {
      throw new GrpcError(
        grpcStatus.resourceExhausted,
        `a message has ${length} bytes, more than ${MAX_MESSAGE}`,
      );
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
