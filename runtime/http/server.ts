import type { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContext, TLSSocket } from "node:tls";
import type { GatewayContext } from "../gateway/context.ts";
import type { Certificates } from "./certificates.ts";
import { answerClientError, closeWith } from "./client-error.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import type { Exchange, Handled } from "./exchange.ts";
import { whenSpoken } from "./first-bytes.ts";
import { Http2Connections, type Http2Limits } from "./http2-connections.ts";
import { type Framing, type RequestPort, takeRequest } from "./request-entry.ts";
import type { TlsSettings } from "./tls.ts";
import { UpgradeAnswer, wantsUpgrade } from "./upgrade-answer.ts";
import type { WireAnswer, WireRequest } from "./wire.ts";

/** What a server does with requests. */
export interface ServerBehaviour {
  /** Routes and answers one request. */
  readonly handle: (exchange: Exchange) => Handled;
  /** Whether clients may send targets in absolute form: `GET http://host/path`. */
  readonly isForwardProxy: boolean;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is undefined when the client left
   * unanswered.
   */
  readonly ended: (exchange: Exchange, status: number | undefined, duration: number) => void;
  /** A handler threw: a bug, or a failure nobody foresaw. */
  readonly failed: (exchange: Exchange, error: unknown) => void;
  /** A client sent what the parser refused: there is no exchange to tell of. */
  readonly malformed: () => void;
  /** Something the operator should know: a certificate that can't be used. */
  readonly warn: (message: string) => void;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  /** How connections are held; those that are open keep what they were opened with. */
  readonly connections: ConnectionSettings;
}

/** A server of one port, HTTP/1.1 and HTTP/2. */
export class HttpServer {
  #behaviour: ServerBehaviour;
  readonly #port: RequestPort;
  readonly #server: Server | TlsServer;
  readonly #http2: Http2Connections;
  /** Plain connections that have said nothing yet. */
  readonly #silent: Set<Socket> = new Set();
  /** Connections that have left HTTP, or ask to. */
  readonly #upgraded: Set<Socket> = new Set();
  #certificates: Certificates | undefined;
  #isClosing = false;

  /** With certificates the port speaks TLS, which can't be changed later; the certificates can. */
  constructor(
    behaviour: ServerBehaviour,
    gateway: GatewayContext,
    certificates: Certificates | undefined,
  ) {
    this.#behaviour = behaviour;
    this.#port = {
      behaviour: () => this.#behaviour,
      gateway,
      ended: () => {
        if (this.#isClosing) this.#server.closeIdleConnections();
      },
    };
    this.#http2 = new Http2Connections({
      settings: () => http2Limits(this.#behaviour.connections),
      serve: (request, answer, hasBody) => this.#serve(request, answer, { hasBody }),
      malformed: () => this.#behaviour.malformed(),
      broken: (error, socket) => this.#broken(error, socket),
    });
    const serve = (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response, {});
    this.#server =
      certificates === undefined
        ? createServer(limits, serve)
        : createTlsServer({ ...limits, ...this.#tlsOptions(certificates.settings) }, serve);
    if (certificates !== undefined) this.useCertificates(certificates);
    this.behave(behaviour);
    // 0: node would drop further headers silently; the request check refuses them instead.
    this.#server.maxHeadersCount = 0;
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response, { expectsContinue: true }),
    );
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    // Tunnels by CONNECT (RFC 9110 9.3.6) are for nobody: a forward proxy sees each request, or passes TLS by its SNI.
    this.#server.on("connect", (_request, socket) =>
      closeWith(socket, this.#behaviour.isForwardProxy ? "501 Not Implemented" : "400 Bad Request"),
    );
    this.#server.on("clientError", (error, socket) => {
      this.#broken(error, socket);
      if (answerClientError(error, socket)) this.#behaviour.malformed();
    });
    this.#takeConnections(certificates === undefined ? "connection" : "secureConnection");
  }

  /** The next request gets this behaviour. */
  behave(behaviour: ServerBehaviour): void {
    this.#behaviour = behaviour;
    this.#server.keepAliveTimeout = behaviour.connections.idleTimeout;
  }

  /** Whether the port can go on with these settings: what a handshake is made of is settled when it opens. */
  canUse(tls: TlsSettings | undefined): boolean {
    const now = this.#certificates?.settings;
    if (now === undefined || tls === undefined) return now === tls;
    return (
      now.handshakeTimeout === tls.handshakeTimeout &&
      now.alpn.join() === tls.alpn.join() &&
      (now.clientAuthorities === undefined) === (tls.clientAuthorities === undefined)
    );
  }

  /** New connections get these certificates; the ones before are no longer watched. */
  useCertificates(certificates: Certificates): void {
    this.#certificates?.close();
    this.#certificates = certificates;
    const use = () => {
      if ("setSecureContext" in this.#server) this.#server.setSecureContext(certificates.defaults);
    };
    use();
    certificates.watch(use, this.#behaviour.warn);
  }

  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ port, host, backlog: 511 }, () => {
        this.#server.off("error", reject);
        // A listening TCP server has an AddressInfo.
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
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
      this.#http2.close();
    });
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
    this.#http2.destroy();
    for (const socket of this.#upgraded) socket.destroy();
  }

  #tlsOptions(settings: TlsSettings) {
    const isMutual = settings.clientAuthorities !== undefined;
    return {
      handshakeTimeout: settings.handshakeTimeout,
      ALPNProtocols: [...settings.alpn],
      requestCert: isMutual,
      rejectUnauthorized: isMutual,
      SNICallback: (
        name: string,
        done: (error: Error | null, context?: SecureContext) => void,
      ): void => done(null, this.#certificates?.contextFor(name)),
    };
  }

  /** Puts the choice between the versions of HTTP before node's own handling of a connection, which is HTTP/1.1's. */
  #takeConnections(event: "connection" | "secureConnection"): void {
    const server: EventEmitter = this.#server;
    const [http1] = server.listeners(event).slice(-1);
    server.removeAllListeners(event);
    server.on(event, (socket: Socket | TLSSocket) => {
      // Node keeps a peer's address once it was asked for: a client that has left still has one in the log.
      void socket.remoteAddress;
      const { time, interval, retries } = this.#behaviour.connections.keepAlive;
      socket.setKeepAlive(true, time, interval, retries);
      if ("alpnProtocol" in socket) {
        if (socket.alpnProtocol === "h2") this.#http2.accept(socket);
        else http1?.call(server, socket);
        return;
      }
      this.#silent.add(socket);
      socket.once("close", () => this.#silent.delete(socket));
      whenSpoken(socket, limits.headersTimeout, (version) => {
        this.#silent.delete(socket);
        if (version === "http2") this.#http2.accept(socket);
        else http1?.call(server, socket);
      });
    });
  }

  /** Node has taken the connection out of its own care. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A server's connection is a socket; the type is wider for others' sake.
    const connection = socket as Socket;
    if (!wantsUpgrade(request)) {
      closeWith(connection, "400 Bad Request");
      return;
    }
    this.#upgraded.add(connection);
    connection.once("close", () => this.#upgraded.delete(connection));
    this.#serve(request, new UpgradeAnswer(request, connection, head), {});
  }

  /** Tells with codes only: messages of parsers may quote what was sent. */
  #broken(error: NodeJS.ErrnoException, socket: Duplex): void {
    const { broken } = this.#behaviour;
    if (broken === undefined) return;
    const peer = "remoteAddress" in socket ? `${socket.remoteAddress}` : "a client";
    broken(`the connection of ${peer} is broken off: ${error.code ?? error.name}`);
  }

  #serve(request: WireRequest, answer: WireAnswer, framing: Framing): void {
    takeRequest(request, answer, framing, this.#port);
  }
}

/** Node's limits of one connection; times in milliseconds. */
const limits = {
  maxHeaderSize: 65_536,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  // The request check does it, so that the refusal is logged and counted like any other.
  requireHostHeader: false,
  // Any other request goes on as if it had not asked.
  shouldUpgradeCallback: wantsUpgrade,
  // A request without a body needs no stream events.
  optimizeEmptyRequests: true,
};

function http2Limits({ http2, maxHeaders, idleTimeout }: ConnectionSettings): Http2Limits {
  return {
    ...http2,
    maxHeaders,
    idleTimeout,
    maxHeaderBytes: limits.maxHeaderSize,
    bodyTimeout: limits.requestTimeout,
  };
}
