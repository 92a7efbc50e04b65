import type { LlmError } from "./llm-error.ts";

/** What a piece of a stream means for the client. */
export interface StreamStep {
  /** In order. */
  readonly output: readonly (string | Uint8Array)[];
  /** Each piece of the output is one event. Absent: that is not known. */
  readonly areEvents?: boolean;
  /** The client gets something of the completion: no other provider can take over any more. */
  readonly hasContent: boolean;
  /** `ended`: it is complete; an error: it failed, and `output` is what came before. */
  readonly state: "open" | "ended" | LlmError;
}

/** A piece of a stream as bytes; those that it has are not copied. */
export function bufferOf(piece: string | Uint8Array): Buffer {
  if (Buffer.isBuffer(piece)) return piece;
  if (typeof piece === "string") return Buffer.from(piece);
  return Buffer.from(piece.buffer, piece.byteOffset, piece.length);
}
