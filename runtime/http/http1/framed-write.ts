import type { Writable } from "node:stream";
import { asBuffer } from "../body/as-buffer.ts";

/** What is called when a write has gone out, or failed. */
export type Sent = (error?: Error | null) => void;

/** A chunk of at most so many bytes is put into one piece with what stands around it: half the cost of a gathered write. */
export const ONE_PIECE = 4096;

/**
 * Writes bytes with the text (Latin-1) before and behind them in one go: a head and the start of its body, a chunk and
 * its frame. `sent` is called when all has gone out. False: wait for `drain`.
 */
export function writeFramed(
  socket: Writable,
  before: string,
  chunk: Uint8Array,
  behind: string,
  sent?: Sent,
): boolean {
  if (before === "" && behind === "") return isReady(socket, socket.write(chunk, sent));
  if (chunk.length <= ONE_PIECE)
    return socket.write(inOnePiece(before, chunk, behind), "latin1", sent);
  socket.cork();
  if (before !== "") socket.write(before, "latin1");
  let isBelow = socket.write(chunk, behind === "" ? sent : undefined);
  if (behind !== "") isBelow = socket.write(behind, "latin1", sent);
  socket.uncork();
  return isReady(socket, isBelow);
}

/** Bytes with what stands around them, as Latin-1. */
export function inOnePiece(before: string, chunk: Uint8Array, behind: string): string {
  return before + asBuffer(chunk).toString("latin1") + behind;
}

/** Whether a text is written as it is with what stands around it: it is short, and of ASCII alone. `length`: its bytes. */
export function isPlainText(text: string, length: number | "chunked" | undefined): boolean {
  return text.length <= ONE_PIECE && length === text.length;
}

/** A socket says of one long piece that it is too much, even where the kernel has taken all of it. */
function isReady(socket: Writable, isBelow: boolean): boolean {
  return isBelow || socket.writableLength === 0;
}
