import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** Gets each connection of a server before the server does, TLS included; `go` hands it to the server. */
export function interceptConnections(
  server: EventEmitter,
  receive: (socket: Socket, go: () => void) => void,
): void {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    receive(socket, () => {
      for (const listener of listeners) listener.call(server, socket);
    });
  });
}
