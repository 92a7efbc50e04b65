import type { GatewayContext } from "../process/gateway-context.ts";

/** The server of one port, of any protocol. */
export interface PortServer {
  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number>;
  /**
   * Takes no more connections and closes the others as soon as they are idle. Resolves when the last one has closed.
   * `atOnce`: the port is free when the function returns, and the connections that the kernel holds for it are reset.
   */
  close(atOnce?: boolean): Promise<void>;
  /** Breaks every connection off. */
  closeAllConnections(): void;
}

/** What a port is to do, with all that it needs at hand: its files are read. */
export interface PreparedPort {
  /** The change by which an open server does it from then on; undefined: it can't. */
  takeOver(server: PortServer): (() => void) | undefined;
  /** A server that does it. */
  create(gateway: GatewayContext): PortServer;
}
