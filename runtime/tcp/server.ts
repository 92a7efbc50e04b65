import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { type ConnectionRules, forbiddingRule } from "../net/connection-rules.ts";
import type { KeepAliveSettings } from "../net/connection-settings.ts";
import { listenOn } from "../net/listen-on.ts";
import type { PortServer } from "../net/port-server.ts";
import {
  ProxiedConnections,
  type ProxyProtocolSettings,
} from "../net/proxy-protocol/proxied-connections.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { Certificates } from "../tls/certificates.ts";
import { handshakeOptions, isSameHandshake } from "../tls/handshake.ts";
import { receiveClientHello } from "./client-hello.ts";
import {
  ClientConnection,
  type Connection,
  type ConnectionHandler,
  refuseConnection,
} from "./connection.ts";

/** What a port does before bytes are passed on: nothing, reads the server name, or ends TLS. */
export type PortMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  | { readonly kind: "terminate"; readonly certificates: Certificates };

/** What a server does with connections. */
export interface TcpServerHandlers {
  readonly handle: ConnectionHandler;
  /** Who may connect; undefined: everybody. */
  readonly connectionRules: ConnectionRules | undefined;
  /** A client was not allowed to connect, by this rule. */
  readonly denied: (rule: string) => void;
  /** Proxies say for whom connections are made; undefined: connections are their clients' own. */
  readonly proxyProtocol: ProxyProtocolSettings | undefined;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  readonly keepAlive: KeepAliveSettings;
  /** Connections that the port has at once; one more is closed as soon as it is there. */
  readonly maxConnections: number;
  /** That happened. */
  readonly refused: () => void;
  /** Called once when a connection has ended, after `duration` milliseconds. */
  readonly ended: (connection: Connection, duration: number) => void;
  /** A handler threw: a bug. */
  readonly failed: (error: unknown) => void;
  readonly warn: (message: string) => void;
}

/** How long a connection may be silent once the port closes; milliseconds. Nobody knows what it waits for. */
const silence = 5000;

/** A server of one port whose bytes are passed on. */
export class TcpServer implements PortServer {
  #handlers: TcpServerHandlers;
  #mode: PortMode;
  readonly #gateway: GatewayContext;
  readonly #server: Server | TlsServer;
  readonly #connections: Set<ClientConnection> = new Set();
  readonly #proxied = new ProxiedConnections();

  constructor(handlers: TcpServerHandlers, mode: PortMode, gateway: GatewayContext) {
    this.#handlers = handlers;
    this.#mode = mode;
    this.#gateway = gateway;
    this.#server = this.#create(mode);
    this.#server.on("drop", () => this.#handlers.refused());
    this.#proxied.comeFirst(this.#server, () => this.#handlers);
    this.#use(mode);
  }

  /** Whether the port can go on in another mode: with TLS that this process ends, only its certificates change. */
  canUse(mode: PortMode): boolean {
    const now = this.#mode;
    if (now.kind !== "terminate" || mode.kind !== "terminate") {
      return now.kind !== "terminate" && mode.kind !== "terminate";
    }
    return isSameHandshake(now.certificates.settings, mode.certificates.settings);
  }

  /** The next connection gets these. */
  setHandlers(handlers: TcpServerHandlers, mode: PortMode): void {
    if (this.#mode.kind === "terminate") this.#mode.certificates.close();
    this.#handlers = handlers;
    this.#mode = mode;
    this.#use(mode);
  }

  listen(port: number, host: string | undefined): Promise<number> {
    return listenOn(this.#server, port, host, this.#gateway.threads !== undefined);
  }

  close(): Promise<void> {
    if (this.#mode.kind === "terminate") this.#mode.certificates.close();
    const timer = this.#endSilent();
    this.#proxied.close();
    return new Promise((resolve) => {
      this.#server.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  closeAllConnections(): void {
    for (const { record, socket } of this.#connections) {
      record.reason ??= "Draining";
      socket.destroy();
    }
  }

  #create(mode: PortMode): Server | TlsServer {
    const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
    if (mode.kind !== "terminate") {
      return createServer(options, (socket) => this.#accept(socket));
    }
    const { settings } = mode.certificates;
    const current = () => (this.#mode.kind === "terminate" ? this.#mode.certificates : undefined);
    const server = createTlsServer({
      allowHalfOpen: true,
      noDelay: true,
      ...handshakeOptions(settings, current),
    });
    server.on("secureConnection", (socket) => this.#accept(socket));
    // What ends before its handshake has is nobody's connection.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  }

  #use(mode: PortMode): void {
    this.#server.maxConnections = this.#handlers.maxConnections;
    if (mode.kind === "terminate") this.#watch(mode.certificates);
  }

  #watch(certificates: Certificates): void {
    const use = () => {
      if ("setSecureContext" in this.#server) this.#server.setSecureContext(certificates.defaults);
    };
    use();
    certificates.watch(use, this.#handlers.warn, this.#gateway.metrics);
  }

  #accept(socket: Socket): void {
    const handlers = this.#handlers;
    this.#proxied.name(socket);
    const connection = new ClientConnection(socket, this.#gateway);
    const { time, interval, retries } = handlers.keepAlive;
    socket.setKeepAlive(true, time, interval, retries);
    // Who passes its bytes on has a listener of its own.
    socket.on("error", () => {});
    this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      handlers.ended(connection, performance.now() - connection.started);
    });
    const rule = forbiddingRule(socket, handlers.connectionRules);
    if (rule !== undefined) {
      handlers.denied(rule);
      refuseConnection(connection, "Authorization", `not allowed by ${rule}`);
      return;
    }
    if (this.#mode.kind === "passthrough") {
      this.#readName(connection, this.#mode.handshakeTimeout);
      return;
    }
    const name = "servername" in socket ? socket.servername : undefined;
    connection.serverName = typeof name === "string" ? name.toLowerCase() : undefined;
    this.#handle(connection);
  }

  #readName(connection: ClientConnection, timeout: number): void {
    receiveClientHello(connection.socket, timeout, (hello) => {
      if (hello.kind === "none") {
        refuseConnection(connection, hello.isTimeout ? "Timeout" : "BadRequest", hello.why);
        return;
      }
      connection.serverName = hello.serverName;
      connection.first = hello.bytes;
      this.#handle(connection);
    });
  }

  #handle(connection: ClientConnection): void {
    try {
      this.#handlers.handle(connection);
    } catch (error) {
      this.#handlers.failed(error);
      refuseConnection(connection, "Internal", "internal error");
    }
  }

  /** Ends connections that have passed nothing on for a while: of the others it is for their ends to say. */
  #endSilent(): NodeJS.Timeout {
    let before = new Map<ClientConnection, number>();
    const look = () => {
      const now = new Map<ClientConnection, number>();
      for (const connection of this.#connections) {
        const { received, sent } = connection.record;
        now.set(connection, received + sent);
        if (before.get(connection) !== received + sent) continue;
        connection.record.reason ??= "Draining";
        connection.socket.destroySoon();
      }
      before = now;
    };
    look();
    return setInterval(look, silence);
  }
}
