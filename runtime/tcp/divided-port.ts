import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type HostTable, valueForHost } from "../net/host-table.ts";
import { FIRST_REQUEST_TIME } from "../net/listen-on.ts";
import type { DividedServer, PreparedDivision, TlsDivision } from "../net/port-server.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { receiveClientHello } from "../tls/client-hello.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";
import { NamedEnd, type NamedEndSettings } from "../tls/named-end.ts";
import { type TcpConnectionHandlers, TcpConnections } from "./tcp-connections.ts";

/**
 * Handling of TLS for a server name: terminated with the settings of the port, forwarded as received, or terminated with
 * settings of its own, by their index.
 */
export type NameHandling = "here" | "passedOn" | number;

/** Takes handshakes that offer certain protocols, whatever their server name. */
export interface InterceptedHandshakes {
  /** Whether a client that offers these protocols is taken. */
  readonly takes: (protocols: readonly string[]) => boolean;
  /** Returns the function that takes connections of which nothing was read. */
  readonly open: (gateway: GatewayContext) => (socket: Socket) => void;
}

/** Handlers of a divided port. */
export interface DivisionHandlers {
  /** Handling by server name. Names that are absent use the settings of the port. */
  readonly handlings: HostTable<NameHandling>;
  /** Settings of TLS for single server names. */
  readonly ends: readonly NamedEndSettings[];
  /** Takes the handshakes of an ACME server; absent if there are none. */
  readonly intercepted: InterceptedHandshakes | undefined;
  /** Maximum milliseconds from the connection to its complete ClientHello. */
  readonly handshakeTimeout: number;
  /** Handlers of forwarded connections; absent if the port forwards none. */
  readonly connections: TcpConnectionHandlers | undefined;
  /** Receives why a connection was closed; `undefined` if the log does not want it. */
  readonly broken: ((message: string) => void) | undefined;
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  readonly warn: (message: string) => void;
}

/** Prepares dividing the connections of a port by server name; `handshakes` as in the result. */
export function prepareDivision(handshakes: string, handlers: DivisionHandlers): PreparedDivision {
  return {
    handshakes,
    open(
      gateway: GatewayContext,
      server: DividedServer,
      before: TlsDivision | undefined,
    ): TlsDivision {
      if (!(before instanceof DividedPort)) return new DividedPort(handlers, server, gateway);
      before.use(handlers);
      return before;
    },
  };
}

/** Reads the server name of each connection without taking part in its handshake, and passes the connection on accordingly. */
class DividedPort implements TlsDivision {
  readonly #gateway: GatewayContext;
  readonly #server: DividedServer;
  readonly #connections: TcpConnections;
  #handlers: DivisionHandlers;
  /** Servers of `#handlers.ends`, by index. */
  #ends: readonly NamedEnd[];
  #intercept: ((socket: Socket) => void) | undefined;
  /** Connections whose server name is not known yet. */
  readonly #unnamed: Set<Socket> = new Set();

  constructor(handlers: DivisionHandlers, server: DividedServer, gateway: GatewayContext) {
    this.#gateway = gateway;
    this.#server = server;
    this.#connections = new TcpConnections(gateway);
    this.#handlers = handlers;
    this.#ends = this.#open(handlers);
    this.#intercept = handlers.intercepted?.open(gateway);
  }

  /** Applies handlers to new connections. */
  use(handlers: DivisionHandlers): void {
    for (const end of this.#ends) end.close();
    this.#handlers = handlers;
    this.#ends = this.#open(handlers);
    this.#intercept = handlers.intercepted?.open(this.#gateway);
  }

  receive(socket: Socket, endHere: () => void): void {
    this.#unnamed.add(socket);
    const forget = () => this.#unnamed.delete(socket);
    socket.once("close", forget);
    socket.on("error", ignore);
    const handlers = this.#handlers;
    receiveClientHello(socket, handlers.handshakeTimeout, (hello) => {
      socket.off("close", forget);
      forget();
      if (hello.kind === "none") {
        handlers.broken?.(`the connection of ${socket.remoteAddress} is aborted: ${hello.why}`);
        socket.destroy();
        return;
      }
      // Bytes that are not TLS are refused as on every port that terminates TLS.
      const name = hello.kind === "hello" ? hello.serverName : undefined;
      const isAsked =
        hello.kind === "hello" && handlers.intercepted?.takes(hello.protocols) === true;
      const handling = hello.kind === "hello" ? handlingOf(name, this.#handlers) : "here";
      if (handling === "passedOn" && !isAsked) {
        this.#pass(socket, name, hello.bytes);
        return;
      }
      socket.off("error", ignore);
      for (const bytes of hello.bytes.reverse()) socket.unshift(bytes);
      if (isAsked) this.#intercept?.(socket);
      else if (handling === "here") endHere();
      else if (handling !== "passedOn") this.#ends[handling]?.receive(socket);
    });
  }

  isEndedHere(socket: TLSSocket): boolean {
    return handlingOf(namedBy(socket), this.#handlers) === "here";
  }

  close(): () => void {
    setTimeout(() => {
      for (const socket of this.#unnamed) socket.destroy();
    }, FIRST_REQUEST_TIME).unref();
    for (const end of this.#ends) end.close();
    return this.#connections.endSilent();
  }

  destroy(): void {
    for (const socket of this.#unnamed) socket.destroy();
    this.#connections.destroy();
  }

  #pass(socket: Socket, serverName: string | undefined, bytes: readonly Buffer[]): void {
    const { connections } = this.#handlers;
    if (connections === undefined) {
      socket.destroy();
      return;
    }
    // The end of one direction ends both where TLS is terminated.
    socket.allowHalfOpen = true;
    this.#connections.admit(socket, connections, (connection) => {
      connection.serverName = serverName;
      connection.first = bytes;
      this.#connections.pass(connection, connections);
    });
  }

  #open(handlers: DivisionHandlers): readonly NamedEnd[] {
    return handlers.ends.map((settings, index) => {
      const secured = (socket: TLSSocket) => this.#take(socket, settings, index, handlers);
      return new NamedEnd(settings, { ...handlers, secured }, this.#gateway);
    });
  }

  /** Takes a connection whose handshake used settings of its own. */
  #take(
    socket: TLSSocket,
    { carries }: NamedEndSettings,
    index: number,
    handlers: DivisionHandlers,
  ): void {
    const { connections } = handlers;
    // A second ClientHello (RFC 8446 4.1.4) may request another server name, whose clients need another certificate.
    if (handlingOf(namedBy(socket), handlers) !== index) {
      socket.on("error", ignore);
      socket.destroy();
      return;
    }
    if (carries === "requests") {
      this.#server.secured(socket);
      return;
    }
    this.#server.name(socket);
    if (connections === undefined) return;
    this.#connections.admit(socket, connections, (connection) => {
      connection.serverName = namedBy(socket);
      this.#connections.pass(connection, connections);
    });
  }
}

function handlingOf(serverName: string | undefined, { handlings }: DivisionHandlers): NameHandling {
  return valueForHost(handlings, serverName ?? "") ?? "here";
}

/** Returns the server name of a finished handshake, in lower case; `undefined` if the client requested none. */
function namedBy({ servername }: { readonly servername?: unknown }): string | undefined {
  return typeof servername === "string" ? servername.toLowerCase() : undefined;
}

function ignore(): void {}
