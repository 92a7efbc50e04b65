import { type AddressInfo, createServer, type Server } from "node:net";
import { SECOND } from "../process/units.ts";

/**
 * Milliseconds that a new connection has for its first request after its port has closed. Without it, a client that has just
 * connected gets a reset, and its request is lost although the gateway accepted the connection.
 */
export const FIRST_REQUEST_TIME: number = 2 * SECOND;

/**
 * Opens a server's port and resolves with its number. `reusePort`: other sockets listen on it too, and each gets a share of the
 * connections.
 */
export function listenOn(
  server: Server,
  port: number,
  host: string | undefined,
  reusePort = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 511, reusePort }, () => {
      server.off("error", reject);
      // A listening TCP server has an AddressInfo.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Maximum number of turns of the event loop that `closeQuietly` waits, and milliseconds that a quiet turn may take. */
const MAX_TURNS = 2000;
const MAX_QUIET_TIME = 1;

/**
 * Closes a server's port in a turn of the event loop that found no connection in the kernel's queue. Closing resets the
 * connections that wait in the queue, and Node accepts one per turn. `closed` is called when the port is closed. `atOnce`:
 * closes it before returning, whatever waits. Resolves when all connections of the server have ended.
 */
export function closeQuietly(server: Server, closed: () => void, atOnce: boolean): Promise<void> {
  let isQuiet = atOnce;
  server.on("connection", () => {
    isQuiet = false;
  });
  return new Promise((resolve) => {
    let turns = atOnce ? MAX_TURNS : 0;
    let turnAt = performance.now();
    const look = () => {
      const now = performance.now();
      turns += 1;
      if (turns < MAX_TURNS && !(isQuiet && now - turnAt < MAX_QUIET_TIME)) {
        isQuiet = true;
        turnAt = now;
        // The queue is checked between two turns.
        setImmediate(look);
        return;
      }
      server.close(() => resolve());
      closed();
    };
    look();
  });
}

/** Rejects if something already listens on a port, even if the port could be shared. */
export async function checkPort(port: number, host: string | undefined): Promise<void> {
  const server = createServer();
  await listenOn(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}
