import { type AddressInfo, createServer, type Server } from "node:net";
import { SECOND } from "../process/units.ts";

/**
 * Milliseconds that a new connection has to send its first request once its port closes. Without it, a client that has just
 * connected gets a reset: its request is lost although the gateway accepted the connection.
 */
export const FIRST_REQUEST_TIME: number = 2 * SECOND;

/** Opens a server's port. Resolves with the real one. `reusePort`: others listen on it too, and each gets its share. */
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

/** Turns of the event loop that `closeQuietly` waits for at most, and milliseconds that a quiet one may take. */
const MAX_TURNS = 2000;
const MAX_QUIET_TIME = 1;

/**
 * Closes a server's port in a turn of the event loop that found no connection in the kernel's queue. Closing resets the
 * connections that wait there, and Node accepts one of them per turn. `closed` is called when the port is closed. `atOnce`:
 * closes it before it returns, whatever waits. Resolves when all its connections have ended.
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
        // The queue is looked at between two of them.
        setImmediate(look);
        return;
      }
      server.close(() => resolve());
      closed();
    };
    look();
  });
}

/** Rejects when somebody listens on a port already, whether or not the port could be shared with them. */
export async function checkPort(port: number, host: string | undefined): Promise<void> {
  const server = createServer();
  await listenOn(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}
