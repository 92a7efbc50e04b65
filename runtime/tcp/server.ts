import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { closeQuietly, listenOn } from "../net/listen-on.ts";
import type { PortServer } from "../net/port-server.ts";
import { ProxiedServer, type ProxyProtocol } from "../net/proxy-protocol/proxy-protocol.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { Certificates } from "../tls/certificates.ts";
import { handshakeOptions, isSameHandshake } from "../tls/handshake.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";
import { receiveClientHello } from "./client-hello.ts";
import { type ClientConnection, refuseConnection } from "./connection.ts";
import { type TcpConnectionHandlers, TcpConnections } from "./tcp-connections.ts";

/** What a port does before bytes are passed on: nothing, reads the server name, or ends TLS. */
export type PortMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  | { readonly kind: "terminate"; readonly certificates: Certificates };

/** What a server does with connections. */
export interface TcpServerHandlers extends TcpConnectionHandlers {
  /** Proxies say for whom connections are made; undefined: connections are their clients' own. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  /** Connections that the port has at once; one more is closed as soon as it is there. */
  readonly maxConnections: number;
  /** That happened. */
  readonly refused: () => void;
  /** A handshake of TLS has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  readonly warn: (message: string) => void;
}

/** A server of one port whose bytes are passed on. */
export class TcpServer implements PortServer {
  #handlers: TcpServerHandlers;
  #mode: PortMode;
  readonly #gateway: GatewayContext;
  readonly #server: Server | TlsServer;
  readonly #connections: TcpConnections;
  readonly #proxied: ProxiedServer;

  constructor(handlers: TcpServerHandlers, mode: PortMode, gateway: GatewayContext) {
    this.#handlers = handlers;
    this.#mode = mode;
    this.#gateway = gateway;
    this.#connections = new TcpConnections(gateway);
    this.#server = this.#create(mode);
    this.#server.on("drop", () => this.#handlers.refused());
    this.#proxied = new ProxiedServer(this.#server, () => this.#handlers);
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

  close(atOnce = false): Promise<void> {
    if (this.#mode.kind === "terminate") this.#mode.certificates.close();
    const stop = this.#connections.endSilent();
    this.#proxied.close();
    return closeQuietly(this.#server, () => {}, atOnce).then(stop);
  }

  closeAllConnections(): void {
    this.#connections.destroy();
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
    mode.certificates.watchHandshakes(server, {
      metrics: this.#gateway.metrics,
      name: (socket) => this.#proxied.name(socket),
      failed: (handshake) => this.#handlers.failedHandshake(handshake),
    });
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
    this.#proxied.name(socket);
    const connection = this.#connections.admit(socket, this.#handlers);
    if (connection === undefined) return;
    if (this.#mode.kind === "passthrough") {
      this.#readName(connection, this.#mode.handshakeTimeout);
      return;
    }
    const name = "servername" in socket ? socket.servername : undefined;
    connection.serverName = typeof name === "string" ? name.toLowerCase() : undefined;
    this.#connections.pass(connection, this.#handlers);
  }

  #readName(connection: ClientConnection, timeout: number): void {
    receiveClientHello(connection.socket, timeout, (hello) => {
      if (hello.kind !== "hello") {
        const isTimeout = hello.kind === "none" && hello.isTimeout;
        refuseConnection(connection, isTimeout ? "Timeout" : "BadRequest", hello.why);
        return;
      }
      connection.serverName = hello.serverName;
      connection.first = hello.bytes;
      this.#connections.pass(connection, this.#handlers);
    });
  }
}
