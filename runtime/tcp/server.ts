import { createServer, type Server, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from "node:tls";
import { closeQuietly, listenOn } from "../net/listen-on.ts";
import type { PortServer, PreparedDivision, TlsDivision } from "../net/port-server.ts";
import {
  interceptConnections,
  ProxiedServer,
  type ProxyProtocol,
} from "../net/proxy-protocol/proxy-protocol.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { Certificates } from "../tls/certificates.ts";
import { receiveClientHello } from "../tls/client-hello.ts";
import { handshakeOptions, isSameHandshake } from "../tls/handshake.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";
import { type ClientConnection, refuseConnection } from "./connection.ts";
import { type TcpConnectionHandlers, TcpConnections } from "./tcp-connections.ts";

/** Work of a port before bytes are forwarded: nothing, reading the server name, or terminating TLS. */
export type PortMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  | {
      readonly kind: "terminate";
      readonly certificates: Certificates;
      /** Divides connections by server name; `undefined` if all TLS uses these certificates. */
      readonly division: PreparedDivision | undefined;
    };

/** Handlers of a server's connections. */
export interface TcpServerHandlers extends TcpConnectionHandlers {
  /** PROXY protocol of the port; `undefined` if clients connect directly. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Receives why a connection was aborted, if the log wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  /** Maximum number of connections of the port. Further ones are closed right after they are accepted. */
  readonly maxConnections: number;
  /** Called for each of those. */
  readonly refused: () => void;
  /** A TLS handshake has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  readonly warn: (message: string) => void;
}

/** Server of one port whose bytes are forwarded. */
export class TcpServer implements PortServer {
  #handlers: TcpServerHandlers;
  #mode: PortMode;
  readonly #gateway: GatewayContext;
  readonly #server: Server | TlsServer;
  readonly #connections: TcpConnections;
  readonly #proxied: ProxiedServer;
  /** Divides connections by server name. It keeps its existing connections once the port is no longer divided. */
  #division: TlsDivision | undefined;

  constructor(handlers: TcpServerHandlers, mode: PortMode, gateway: GatewayContext) {
    this.#handlers = handlers;
    this.#mode = mode;
    this.#gateway = gateway;
    this.#connections = new TcpConnections(gateway);
    this.#server = this.#create(mode);
    if (mode.kind === "terminate")
      interceptConnections(this.#server, (socket, endHere) => this.#divide(socket, endHere));
    this.#server.on("drop", () => this.#handlers.refused());
    this.#proxied = new ProxiedServer(this.#server, () => this.#handlers);
    this.#use(mode);
  }

  /** Whether the port can continue in another mode: if this process terminates TLS, only its certificates may change. */
  canUse(mode: PortMode): boolean {
    const now = this.#mode;
    if (now.kind !== "terminate" || mode.kind !== "terminate") {
      return now.kind !== "terminate" && mode.kind !== "terminate";
    }
    return (
      isSameHandshake(now.certificates.settings, mode.certificates.settings) &&
      (now.division?.handshakes ?? "") === (mode.division?.handshakes ?? "")
    );
  }

  /** Applies handlers to new connections. */
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
    const stops = [this.#connections.endSilent(), this.#division?.close()];
    this.#proxied.close();
    return closeQuietly(this.#server, () => {}, atOnce).then(() => {
      for (const stop of stops) stop?.();
    });
  }

  closeAllConnections(): void {
    this.#connections.destroy();
    this.#division?.destroy();
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
    // A connection that ends before its handshake has no owner.
    mode.certificates.watchHandshakes(server, {
      secured: (socket) => this.#takeSecure(socket),
      metrics: this.#gateway.metrics,
      name: (socket) => this.#proxied.name(socket),
      failed: (handshake) => this.#handlers.failedHandshake(handshake),
    });
    return server;
  }

  #use(mode: PortMode): void {
    this.#server.maxConnections = this.#handlers.maxConnections;
    if (mode.kind !== "terminate") return;
    this.#watch(mode.certificates);
    const { division } = mode;
    if (division === undefined) return;
    const server = {
      secured: (socket: Socket) => this.#accept(socket),
      name: (socket: Socket) => this.#proxied.name(socket),
    };
    this.#division = division.open(this.#gateway, server, this.#division);
  }

  /** Passes a TLS connection to the settings of its server name. */
  #divide(socket: Socket, endHere: () => void): void {
    if (this.#division === undefined || !this.#isDivided()) {
      endHere();
      return;
    }
    this.#proxied.name(socket);
    this.#division.receive(socket, endHere);
  }

  #isDivided(): boolean {
    return this.#mode.kind === "terminate" && this.#mode.division !== undefined;
  }

  #watch(certificates: Certificates): void {
    const use = () => {
      if ("setSecureContext" in this.#server) this.#server.setSecureContext(certificates.defaults);
    };
    use();
    certificates.watch(use, this.#handlers.warn, this.#gateway.metrics);
  }

  #takeSecure(socket: TLSSocket): void {
    if (!this.#isDivided() || this.#division?.isEndedHere(socket) !== false) {
      this.#accept(socket);
      return;
    }
    // Its hello requested another server name than its handshake, whose clients may need a certificate.
    socket.on("error", () => {});
    socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#proxied.name(socket);
    this.#connections.admit(socket, this.#handlers, (connection) => {
      if (this.#mode.kind === "passthrough") {
        this.#readName(connection, this.#mode.handshakeTimeout);
        return;
      }
      const name = "servername" in socket ? socket.servername : undefined;
      connection.serverName = typeof name === "string" ? name.toLowerCase() : undefined;
      this.#connections.pass(connection, this.#handlers);
    });
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
