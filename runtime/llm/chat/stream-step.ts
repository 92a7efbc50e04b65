import type { LlmError } from "./llm-error.ts";

/** Result of a chunk of a stream for the client. */
export interface StreamStep {
  /** In order. */
  readonly output: readonly (string | Uint8Array)[];
  /** Whether each piece of the output is one event; absent if unknown. */
  readonly areEvents?: boolean;
  /** Whether the client gets part of the completion, so that no other provider can take over. */
  readonly hasContent: boolean;
  /** `ended`: complete; an error: failed, after `output`. */
  readonly state: "open" | "ended" | LlmError;
}

/** Returns a piece of a stream as a Buffer, without copying bytes. */
export function bufferOf(piece: string | Uint8Array): Buffer {
  if (Buffer.isBuffer(piece)) return piece;
  if (typeof piece === "string") return Buffer.from(piece);
  return Buffer.from(piece.buffer, piece.byteOffset, piece.length);
}
