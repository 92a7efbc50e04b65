import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** Who may say for whom a connection is made, and how. */
export interface ProxyProtocolSettings {
  readonly versions: readonly (1 | 2)[];
  /** A connection may come without a header; absent: it is closed. */
  readonly isOptional?: true;
  /** Addresses and ranges of the proxies; absent: everybody. */
  readonly trustedSources?: readonly string[];
}

/** The same with what is done then (proxied-connections.ts, which no other gateway carries). */
export interface ProxyProtocol extends ProxyProtocolSettings {
  readonly open: () => ProxiedClients;
}

/** Who the clients of a port's connections are said to be. */
export interface ProxiedClients {
  /** Takes the header off a connection. `refused`: why it is closed. */
  receive(
    socket: Socket,
    settings: ProxyProtocolSettings,
    then: () => void,
    refused: (why: string) => void,
  ): void;
  /** Gives a connection the address of its client; of TLS, once the handshake is over. */
  name(socket: Socket): void;
  /** Closes the connections that do not say in `FIRST_REQUEST_TIME` for whom they are. */
  close(): void;
}

/** What a port has to do with proxies. */
interface ProxiedPort {
  /** Undefined: nothing. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
}

/** Takes the headers off a server's connections before it does anything with them, TLS included. */
export class ProxiedServer {
  /** From the first connection on that may come from a proxy. */
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

  /** Gives a connection the address of its client. */
  name(socket: Socket): void {
    this.#clients?.name(socket);
  }

  /** Closes the connections that do not say in `FIRST_REQUEST_TIME` for whom they are. */
  close(): void {
    this.#clients?.close();
  }
}

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
