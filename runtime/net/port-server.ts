import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
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

/** Takes connections of a port with TLS by the server name that they ask for. */
export interface TlsDivision {
  /** Keeps a connection, or calls `endHere` with all received bytes back in the socket. */
  receive(socket: Socket, endHere: () => void): void;
  /** Whether TLS for the server name of a finished handshake ends with the settings of the port. */
  isEndedHere(socket: TLSSocket): boolean;
  /**
   * Closes connections that do not name a server in `FIRST_REQUEST_TIME`, and the others once they are silent, until the
   * returned function is called.
   */
  close(): () => void;
  /** Destroys every connection. */
  destroy(): void;
}

/** The server whose connections are divided. */
export interface DividedServer {
  /** Takes a connection whose TLS has ended with settings of its own. */
  readonly secured: (socket: TLSSocket) => void;
  /** Gives a connection the address of its client. */
  readonly name: (socket: Socket) => void;
}

/** A division whose files are read and whose handlers are known. */
export interface PreparedDivision {
  /**
   * Which server names have a handshake of their own, and of what kind. A server can't go on when it changes: its
   * connections may have shown no certificate where one is required now.
   */
  readonly handshakes: string;
  /** Takes over the connections of `before`, the division that the port had so far. */
  open(
    gateway: GatewayContext,
    server: DividedServer,
    before: TlsDivision | undefined,
  ): TlsDivision;
}
