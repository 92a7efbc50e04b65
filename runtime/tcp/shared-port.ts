import type { Socket } from "node:net";
import { type HostTable, valueForHost } from "../http/routing/host-table.ts";
import { FIRST_REQUEST_TIME } from "../net/listen-on.ts";
import type { PreparedPassthrough, TlsPassthrough } from "../net/tls-passthrough.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { receiveClientHello } from "./client-hello.ts";
import { type TcpConnectionHandlers, TcpConnections } from "./tcp-connections.ts";

/** Which connections of a port of HTTPS are passed on, and what becomes of them. */
export interface PassthroughHandlers extends TcpConnectionHandlers {
  /** Whether TLS is passed on, by the server name; the others, and names that are nobody's, are for HTTPS. */
  readonly isPassedOn: HostTable<boolean>;
  /** Milliseconds in which a client has to say whom it wants. */
  readonly handshakeTimeout: number;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
}

/** Passes connections of a port of HTTPS on. */
export function preparePassthrough(handlers: PassthroughHandlers): PreparedPassthrough {
  return {
    open(gateway: GatewayContext, before: TlsPassthrough | undefined): TlsPassthrough {
      if (!(before instanceof NamedConnections)) return new NamedConnections(handlers, gateway);
      before.setHandlers(handlers);
      return before;
    },
  };
}

/** Reads the server name of each connection, without taking part in its handshake, and keeps those to be passed on. */
class NamedConnections implements TlsPassthrough {
  #handlers: PassthroughHandlers;
  readonly #connections: TcpConnections;
  /** Those that have not said whom they want. */
  readonly #unnamed: Set<Socket> = new Set();

  constructor(handlers: PassthroughHandlers, gateway: GatewayContext) {
    this.#handlers = handlers;
    this.#connections = new TcpConnections(gateway);
  }

  /** The next connection gets these. */
  setHandlers(handlers: PassthroughHandlers): void {
    this.#handlers = handlers;
  }

  receive(socket: Socket, endHere: () => void): void {
    this.#unnamed.add(socket);
    const forget = () => this.#unnamed.delete(socket);
    socket.once("close", forget);
    socket.on("error", ignore);
    receiveClientHello(socket, this.#handlers.handshakeTimeout, (hello) => {
      socket.off("close", forget);
      forget();
      if (hello.kind === "none") {
        const { broken } = this.#handlers;
        broken?.(`the connection of ${socket.remoteAddress} is broken off: ${hello.why}`);
        socket.destroy();
        return;
      }
      // What is no TLS is refused as on every port where TLS ends.
      const name = hello.kind === "hello" ? hello.serverName : undefined;
      if (hello.kind === "hello" && this.#isPassedOn(name)) {
        this.#pass(socket, name, hello.bytes);
        return;
      }
      socket.off("error", ignore);
      for (const bytes of hello.bytes.reverse()) socket.unshift(bytes);
      endHere();
    });
  }

  close(): () => void {
    setTimeout(() => {
      for (const socket of this.#unnamed) socket.destroy();
    }, FIRST_REQUEST_TIME).unref();
    return this.#connections.endSilent();
  }

  destroy(): void {
    for (const socket of this.#unnamed) socket.destroy();
    this.#connections.destroy();
  }

  #isPassedOn(serverName = ""): boolean {
    return valueForHost(this.#handlers.isPassedOn, serverName) === true;
  }

  #pass(socket: Socket, serverName: string | undefined, bytes: readonly Buffer[]): void {
    // Where TLS ends here, the end of one direction is the end of both.
    socket.allowHalfOpen = true;
    const connection = this.#connections.admit(socket, this.#handlers);
    if (connection === undefined) return;
    connection.serverName = serverName;
    connection.first = bytes;
    this.#connections.pass(connection, this.#handlers);
  }
}

function ignore(): void {}
