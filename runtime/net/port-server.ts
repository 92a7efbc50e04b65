import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { GatewayContext } from "../process/gateway-context.ts";

/** Server of one port, of any protocol. */
export interface PortServer {
  /** Opens the port (0: any free one) on `host`, or on all addresses. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number>;
  /**
   * Accepts no more connections and closes the others as soon as they are idle. Resolves when the last one has closed.
   * `atOnce`: the port is free when the function returns, and connections in the kernel's queue are reset.
   */
  close(atOnce?: boolean): Promise<void>;
  /** Aborts all connections. */
  closeAllConnections(): void;
}

/** New settings of a port whose files were read. */
export interface PreparedPort {
  /** Returns the change that applies them to an open server; `undefined` if that server cannot take them. */
  takeOver(server: PortServer): (() => void) | undefined;
  /** Creates a server with them. */
  create(gateway: GatewayContext): PortServer;
}

/** Distributes the connections of a TLS port by the server name that they request. */
export interface TlsDivision {
  /** Takes over a connection, or calls `endHere` with all received bytes back in the socket. */
  receive(socket: Socket, endHere: () => void): void;
  /** Whether the server name of a finished handshake uses the TLS settings of the port. */
  isEndedHere(socket: TLSSocket): boolean;
  /**
   * Closes connections that request no server name within `FIRST_REQUEST_TIME`, and the others once they are silent, until the
   * returned function is called.
   */
  close(): () => void;
  /** Destroys every connection. */
  destroy(): void;
}

/** The server whose connections are distributed. */
export interface DividedServer {
  /** Takes a connection whose handshake used settings of its own. */
  readonly secured: (socket: TLSSocket) => void;
  /** Sets the client's address of a connection. */
  readonly name: (socket: Socket) => void;
}

/** A division whose files were read and whose handlers are known. */
export interface PreparedDivision {
  /**
   * Describes which server names have a handshake of their own, and its kind. If it changes, a server cannot take the new
   * division: existing connections may have shown no certificate where one is required now.
   */
  readonly handshakes: string;
  /** Opens the division and takes over the connections of `before`, the previous division of the port. */
  open(
    gateway: GatewayContext,
    server: DividedServer,
    before: TlsDivision | undefined,
  ): TlsDivision;
}
