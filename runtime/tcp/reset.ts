import type { Socket } from "node:net";

/** Breaks a connection off so that the other end knows it for an end that nobody wanted, where TCP can say so. */
export function reset(socket: Socket): void {
  // TLS in this process has no handle that could be reset.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
