import type { AddressInfo, Server } from "node:net";
import type { GatewayContext } from "./context.ts";

/** What answers on a port, of any protocol. */
export interface PortServer {
  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number>;
  /** Takes no more connections and closes the others as soon as they are idle. Resolves when the last one has closed. */
  close(): Promise<void>;
  /** Breaks every connection off. */
  closeAllConnections(): void;
}

/** What a port is to do, with all that it needs at hand: its files are read. */
export interface PreparedPort {
  /** The change by which an open server does it from then on; undefined: it can't. */
  takeOver(server: PortServer): (() => void) | undefined;
  /** A server that does it. */
  make(gateway: GatewayContext): PortServer;
}

/** Opens a server's port. Resolves with the real one. */
export function listenOn(server: Server, port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 511 }, () => {
      server.off("error", reject);
      // A listening TCP server has an AddressInfo.
      resolve((server.address() as AddressInfo).port);
    });
  });
}
