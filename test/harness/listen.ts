import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/**
 * The free port that a server listens on from now on, of loopback unless an address is given (`::` is every one). Server
 * and connections are closed at the end of the test.
 */
export async function listen(server: Server, address = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  atEnd(() => close(server, sockets));
  keepIdleConnections(server);
  server.listen(0, address);
  await once(server, "listening");
  // A TCP server's address is an object.
  return (server.address() as AddressInfo).port;
}

/**
 * Lets an HTTP server keep idle connections. Node's five seconds may pass between two requests on a busy machine: the gateway
 * would find its connection closed.
 */
export function keepIdleConnections(server: Server): void {
  if (server instanceof HttpServer || server instanceof HttpsServer)
    server.keepAliveTimeout = 600_000;
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  if (!server.listening) return;
  server.close();
  for (const socket of sockets) socket.destroy();
}
