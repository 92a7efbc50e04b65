import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** Which proxies may announce clients, and how. */
export interface ProxyProtocolSettings {
  readonly versions: readonly (1 | 2)[];
  /** Whether connections may lack the header; if absent, they are closed. */
  readonly isOptional?: true;
  /** Addresses and ranges of the proxies; all addresses if absent. */
  readonly trustedSources?: readonly string[];
}

/** The settings with their implementation (proxied-connections.ts, which only bundles with PROXY protocol contain). */
export interface ProxyProtocol extends ProxyProtocolSettings {
  readonly open: () => ProxiedClients;
}

/** Clients of a port's connections, as announced by proxies. */
export interface ProxiedClients {
  /** Reads the header of a connection. `refused`: called with why the connection is closed. */
  receive(
    socket: Socket,
    settings: ProxyProtocolSettings,
    then: () => void,
    refused: (why: string) => void,
  ): void;
  /** Sets the client's address of a connection; with TLS, after the handshake. */
  name(socket: Socket): void;
  /** Closes connections that send no header within `FIRST_REQUEST_TIME`. */
  close(): void;
}

/** Settings of a port. */
interface ProxiedPort {
  /** `undefined` if the port does not use PROXY protocol. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Receives why a connection was aborted, if the log wants to know. */
  readonly broken: ((message: string) => void) | undefined;
}

/** Reads the headers of a server's connections before anything else does, TLS included. */
export class ProxiedServer {
  /** Created for the first connection that may come from a proxy. */
  #clients: ProxiedClients | undefined;

  constructor(server: EventEmitter, port: () => ProxiedPort) {
    interceptConnections(server, (socket, go) => {
      const { proxyProtocol, broken } = port();
      if (proxyProtocol === undefined) {
        go();
        return;
      }
      this.#clients ??= proxyProtocol.open();
      this.#clients.receive(socket, proxyProtocol, go, (why) =>
        broken?.(`the connection of ${socket.remoteAddress} is closed: ${why}`),
      );
    });
  }

  /** Sets the client's address of a connection. */
  name(socket: Socket): void {
    this.#clients?.name(socket);
  }

  /** Closes connections that send no header within `FIRST_REQUEST_TIME`. */
  close(): void {
    this.#clients?.close();
  }
}

/** Passes each connection to `receive` before the server sees it, TLS included; `go` passes it to the server. */
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
