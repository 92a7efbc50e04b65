import type { Socket } from "node:net";
import { Readable } from "node:stream";

/**
 * Lets nobody have what a socket reads until it is resumed. It goes on reading for a while, unlike `socket.pause()` where it
 * reads into memory that it was given: the end of the connection is seen meanwhile.
 */
export function pauseReads(socket: Socket): void {
  Readable.prototype.pause.call(socket);
}
