import type { Socket } from "node:net";

/** Aborts a connection with a TCP reset where possible, so that the other end does not take it for a regular end. */
export function reset(socket: Socket): void {
  // TLS in this process has no handle that could be reset.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
