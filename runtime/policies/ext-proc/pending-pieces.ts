import type { CommonResponse } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { bodyOf } from "./processor-messages.ts";

/** A piece of a body. */
export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** Maximum number of bytes that wait for a processor. */
const MAX_PENDING = 65_536;

/** The pieces of a body that a processor has not responded to, in order. */
export class PendingPieces {
  readonly #pieces: BodyPiece[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes > MAX_PENDING;
  }

  push(piece: BodyPiece): void {
    this.#pieces.push(piece);
    this.#bytes += piece.bytes.length;
  }

  /** Removes the oldest piece and returns it with the response applied; `undefined` if no piece waits. */
  take(response: CommonResponse | undefined): BodyPiece | undefined {
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    this.#bytes -= piece.bytes.length;
    return { bytes: bodyOf(response) ?? piece.bytes, isLast: piece.isLast };
  }
}
