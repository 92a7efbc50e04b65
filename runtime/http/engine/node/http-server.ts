import type { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { ConnectionSettings } from "../../../net/connection-settings.ts";
import { listenOn } from "../../../net/listen-on.ts";
import type { PortServer } from "../../../net/port-server.ts";
import { ProxiedConnections } from "../../../net/proxy-protocol/proxied-connections.ts";
import type { GatewayContext } from "../../../process/gateway-context.ts";
import type { Certificates } from "../../../tls/certificates.ts";
import { handshakeOptions, isSameHandshake } from "../../../tls/handshake.ts";
import type { TlsSettings } from "../../../tls/tls-settings.ts";
import { acceptRequest, type Framing, type RequestPort } from "../accept-request.ts";
import type { EngineRequest, EngineResponse } from "../engine.ts";
import type { ServerHandlers } from "../server-handlers.ts";
import { ConnectionLifetimes } from "./connection-lifetimes.ts";
import { Http2Connections, type Http2Limits } from "./http2-connections.ts";
import { closeWith, ParseErrors } from "./parse-errors.ts";
import { RequestTurns, responseInProgress } from "./pipelining.ts";
import { sniffProtocol } from "./protocol-sniffing.ts";
import { UpgradeResponse, wantsUpgrade } from "./upgrade-response.ts";

/** A server of one port, HTTP/1.1 and HTTP/2. */
export class HttpServer implements PortServer {
  #handlers: ServerHandlers;
  readonly #port: RequestPort;
  readonly #server: Server | TlsServer;
  readonly #http2: Http2Connections;
  /** Plain connections that have said nothing yet. */
  readonly #silent: Set<Socket> = new Set();
  readonly #proxied = new ProxiedConnections();
  /** Connections that have left HTTP, or ask to. */
  readonly #upgraded: Set<Socket> = new Set();
  readonly #aged = new ConnectionLifetimes();
  readonly #errors = new ParseErrors();
  readonly #turns = new RequestTurns((socket) => this.#errors.isRefused(socket));
  #certificates: Certificates | undefined;
  #isClosing = false;

  /** With certificates the port speaks TLS, which can't be changed later; the certificates can. */
  constructor(
    handlers: ServerHandlers,
    gateway: GatewayContext,
    certificates: Certificates | undefined,
  ) {
    this.#handlers = handlers;
    this.#port = {
      handlers: () => this.#handlers,
      gateway,
      ended: () => {
        if (this.#isClosing) this.#server.closeIdleConnections();
      },
    };
    this.#http2 = new Http2Connections({
      settings: () => http2Limits(this.#handlers.connections),
      serve: (request, response, hasBody) => this.#serve(request, response, { hasBody }),
      malformed: () => this.#handlers.malformed(),
      broken: (error, socket) => this.#broken(error, socket),
    });
    const serve = (request: IncomingMessage, response: ServerResponse) =>
      this.#serveHttp1(request, response, {});
    this.#server =
      certificates === undefined
        ? createServer(limits, serve)
        : createTlsServer(
            {
              ...limits,
              ...handshakeOptions(certificates.settings, () => this.#certificates),
            },
            serve,
          );
    if (certificates !== undefined) this.useCertificates(certificates);
    this.setHandlers(handlers);
    // 0: node would drop further headers silently; the request check refuses them instead.
    this.#server.maxHeadersCount = 0;
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
      this.#serveHttp1(request, response, { expectsContinue: true }),
    );
    this.#server.on("drop", () => this.#handlers.refused());
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("connect", (request, socket, head) => this.#connect(request, socket, head));
    this.#server.on("clientError", (error, socket) => {
      this.#broken(error, socket);
      if (this.#errors.respond(error, socket)) this.#handlers.malformed();
    });
    this.#takeConnections(certificates === undefined ? "connection" : "secureConnection");
    this.#proxied.comeFirst(this.#server, () => this.#handlers);
  }

  /** The next request gets these. */
  setHandlers(handlers: ServerHandlers): void {
    this.#handlers = handlers;
    this.#server.keepAliveTimeout = handlers.connections.idleTimeout;
    this.#server.maxConnections = handlers.connections.maxConnections;
  }

  /** Whether the port can go on with these settings: what a handshake is made of is settled when it opens. */
  canUse(tls: TlsSettings | undefined): boolean {
    return isSameHandshake(this.#certificates?.settings, tls);
  }

  /** New connections get these certificates; the ones before are no longer watched. */
  useCertificates(certificates: Certificates): void {
    this.#certificates?.close();
    this.#certificates = certificates;
    const use = () => {
      if ("setSecureContext" in this.#server) this.#server.setSecureContext(certificates.defaults);
    };
    use();
    certificates.watch(use, this.#handlers.warn, this.#port.gateway.metrics);
  }

  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number> {
    return listenOn(this.#server, port, host);
  }

  /**
   * Takes no more connections and closes the others as soon as they are idle. Resolves when the last one has closed.
   */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#certificates?.close();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
      for (const socket of this.#silent) socket.destroy();
      this.#proxied.close();
      this.#http2.close();
    });
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
    this.#http2.destroy();
    for (const socket of this.#upgraded) socket.destroy();
  }

  /** Puts the choice between the versions of HTTP before node's own handling of a connection, which is HTTP/1.1's. */
  #takeConnections(event: "connection" | "secureConnection"): void {
    const server: EventEmitter = this.#server;
    const [http1] = server.listeners(event).slice(-1);
    server.removeAllListeners(event);
    const takeHttp1 = (socket: Socket) => {
      const { maxDuration } = this.#handlers.connections;
      if (maxDuration !== undefined) this.#aged.follow(socket, maxDuration);
      http1?.call(server, socket);
    };
    server.on(event, (socket: Socket | TLSSocket) => {
      this.#proxied.name(socket);
      // Node keeps a client's address once it was asked for: a client that has left still has one in the log.
      void socket.remoteAddress;
      const { time, interval, retries } = this.#handlers.connections.keepAlive;
      socket.setKeepAlive(true, time, interval, retries);
      if ("alpnProtocol" in socket) {
        if (socket.alpnProtocol === "h2") this.#http2.accept(socket);
        else takeHttp1(socket);
        return;
      }
      this.#silent.add(socket);
      socket.once("close", () => this.#silent.delete(socket));
      sniffProtocol(socket, limits.headersTimeout, (version) => {
        this.#silent.delete(socket);
        if (version === "http2") this.#http2.accept(socket);
        else takeHttp1(socket);
      });
    });
  }

  /** A tunnel (RFC 9110 9.3.6) is asked for: nobody's business but that of a forward proxy which takes them. */
  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { isForwardProxy, takesTunnels } = this.#handlers;
    if (responseInProgress(socket) !== undefined) socket.destroy();
    else if (takesTunnels) this.#leaveHttp(request, socket, head);
    else closeWith(socket, isForwardProxy ? "501 Not Implemented" : "400 Bad Request");
  }

  /** Node has taken the connection out of its own care. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (wantsUpgrade(request)) this.#leaveHttp(request, socket, head);
    else closeWith(socket, "400 Bad Request");
  }

  #leaveHttp(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A server's connection is a socket; the type is wider for others' sake.
    const connection = socket as Socket;
    this.#aged.release(connection);
    this.#upgraded.add(connection);
    connection.once("close", () => this.#upgraded.delete(connection));
    this.#serve(request, new UpgradeResponse(request, connection, head), {});
  }

  #serveHttp1(request: IncomingMessage, response: ServerResponse, framing: Framing): void {
    this.#turns.take(request.socket, response, () => {
      this.#aged.begin(request, response);
      this.#serve(request, response, framing);
    });
  }

  /** Reports codes only: messages of parsers may quote what was sent. */
  #broken(error: NodeJS.ErrnoException, socket: Duplex): void {
    const { broken } = this.#handlers;
    if (broken === undefined) return;
    const client = "remoteAddress" in socket ? `${socket.remoteAddress}` : "a client";
    broken(`the connection of ${client} is broken off: ${error.code ?? error.name}`);
  }

  #serve(request: EngineRequest, response: EngineResponse, framing: Framing): void {
    acceptRequest(request, response, framing, this.#port);
  }
}

/** Node's limits of one connection; times in milliseconds. */
const limits = {
  maxHeaderSize: 65_536,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  // The request check does it, so that the refusal is logged and counted like any other.
  requireHostHeader: false,
  // Any other request goes on as if it had not asked, and so does one that waits for its turn.
  shouldUpgradeCallback: (request: IncomingMessage) =>
    wantsUpgrade(request) && responseInProgress(request.socket) === undefined,
  // A request without a body needs no stream events.
  optimizeEmptyRequests: true,
};

function http2Limits(connections: ConnectionSettings): Http2Limits {
  const { http2, maxHeaders, idleTimeout, maxDuration } = connections;
  return {
    ...http2,
    maxHeaders,
    idleTimeout,
    maxDuration,
    bodyTimeout: limits.requestTimeout,
  };
}
