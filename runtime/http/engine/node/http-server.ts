import { createServer, type Server, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from "node:tls";
import { forbiddingRule } from "../../../net/connection-rules.ts";
import type { ConnectionSettings } from "../../../net/connection-settings.ts";
import { ignoreError } from "../../../net/ignore-error.ts";
import { interceptConnections } from "../../../net/intercept-connections.ts";
import { closeQuietly, FIRST_REQUEST_TIME, listenOn } from "../../../net/listen-on.ts";
import type { PortServer } from "../../../net/port-server.ts";
import { ProxiedServer } from "../../../net/proxy-protocol/proxy-protocol.ts";
import type { PreparedDivision, TlsDivision } from "../../../net/tls-division.ts";
import { WriteBatch } from "../../../net/write-batch.ts";
import type { GatewayContext } from "../../../process/gateway-context.ts";
import type { Certificates } from "../../../tls/certificates.ts";
import { handshakeOptions, isSameHandshake } from "../../../tls/handshake.ts";
import type { TlsSettings } from "../../../tls/tls-settings.ts";
import { acceptRequest } from "../accept-request.ts";
import type { EngineRequest, EngineResponse, Framing } from "../engine.ts";
import { type RequestPort, type ServerHandlers, tunnelRefusal } from "../server-handlers.ts";
import { Http1Connections } from "./http1-connections.ts";
import { BODY_TIME, HEAD_TIME } from "./http1-server-connection.ts";
import { Http2Connections, type Http2Limits } from "./http2-connections.ts";
import { sniffProtocol } from "./protocol-sniffing.ts";

/** A server of one port, HTTP/1.1 and HTTP/2. */
export class HttpServer implements PortServer {
  #handlers: ServerHandlers;
  readonly #port: RequestPort;
  readonly #server: Server | TlsServer;
  readonly #http1: Http1Connections;
  readonly #http2: Http2Connections;
  readonly #proxied: ProxiedServer;
  #certificates: Certificates | undefined;
  /** Takes connections by server name; stays for the connections it has once the port is no longer divided. */
  #division: TlsDivision | undefined;

  /** With certificates the port speaks TLS, which can't be changed later; the certificates can. */
  constructor(
    handlers: ServerHandlers,
    gateway: GatewayContext,
    certificates: Certificates | undefined,
  ) {
    this.#handlers = handlers;
    this.#port = { handlers: () => this.#handlers, gateway };
    const own = {
      malformed: () => this.#handlers.malformed(),
      broken: (reason: string, socket: Socket) => this.#broken(reason, socket),
    };
    this.#http1 = new Http1Connections({
      ...own,
      writes: gateway.metrics.part(WriteBatch),
      settings: () => this.#handlers.connections,
      tunnelRefusal: () => tunnelRefusal(this.#handlers),
      serve: (request, response, expectsContinue) =>
        this.#serve(request, response, { expectsContinue }),
    });
    this.#http2 = new Http2Connections({
      ...own,
      settings: () => http2Limits(this.#handlers.connections),
      serve: (request, response, hasBody) => this.#serve(request, response, { hasBody }),
    });
    if (certificates === undefined) {
      this.#server = createServer({ allowHalfOpen: true, noDelay: true });
      this.#server.on("connection", (socket: Socket) => this.#takePlain(socket));
    } else {
      const server = createTlsServer({
        noDelay: true,
        // Who offers protocols has to find one of them.
        ALPNProtocols: ["http/1.1"],
        ...handshakeOptions(certificates.settings, () => this.#certificates),
      });
      this.#server = server;
      server.on("secureConnection", (socket) => this.#takeSecure(socket));
      certificates.watchHandshakes(server, {
        metrics: gateway.metrics,
        name: (socket) => this.#proxied.name(socket),
        failed: (handshake) => {
          this.#broken(handshake.code, handshake);
          this.#handlers.failedHandshake(handshake);
        },
      });
      this.useCertificates(certificates);
      interceptConnections(this.#server, (socket, endHere) => this.#divide(socket, endHere));
    }
    this.setHandlers(handlers);
    this.#server.on("drop", () => this.#handlers.refused());
    this.#proxied = new ProxiedServer(this.#server, () => this.#handlers);
  }

  /** The next request gets these. */
  setHandlers(handlers: ServerHandlers): void {
    this.#handlers = handlers;
    const { division, handover } = handlers;
    handover?.open(this.#port);
    if (division !== undefined) this.#division = this.#divided(division);
    this.#server.maxConnections = handlers.connections.maxConnections;
  }

  /** Whether the port can go on with these settings: what a handshake is made of is settled when it opens. */
  canUse(tls: TlsSettings | undefined, division: PreparedDivision | undefined): boolean {
    return (
      isSameHandshake(this.#certificates?.settings, tls) &&
      (this.#handlers.division?.handshakes ?? "") === (division?.handshakes ?? "")
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
    certificates.watch(use, this.#handlers.warn, this.#port.gateway.metrics);
  }

  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number> {
    return listenOn(this.#server, port, host, this.#port.gateway.threads !== undefined);
  }

  /**
   * Takes no more connections and closes the others as soon as they are idle. Resolves when the last one has closed.
   */
  close(atOnce = false): Promise<void> {
    this.#certificates?.close();
    const stop = this.#division?.close();
    const endIdle = () => {
      this.#http1.close();
      this.#proxied.close();
      this.#http2.close();
    };
    const closed = closeQuietly(this.#server, endIdle, atOnce);
    return closed.then(stop);
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    this.#http1.destroy();
    this.#http2.destroy();
    this.#division?.destroy();
  }

  #divided(division: PreparedDivision): TlsDivision {
    const server = {
      secured: (socket: TLSSocket) => this.#takeNamed(socket),
      name: (socket: Socket) => this.#proxied.name(socket),
    };
    return division.open(this.#port.gateway, server, this.#division);
  }

  /** Hands a connection of TLS to the end of the server that it names. */
  #divide(socket: Socket, endHere: () => void): void {
    if (this.#handlers.division === undefined || this.#division === undefined) {
      endHere();
      return;
    }
    this.#proxied.name(socket);
    this.#division.receive(socket, endHere);
  }

  #takePlain(socket: Socket): void {
    if (!this.#hold(socket)) return;
    const time = this.#http1.isClosing ? FIRST_REQUEST_TIME : HEAD_TIME;
    sniffProtocol(socket, this.#http1.deadlines, time, (version) => {
      if (version === "http2") this.#http2.accept(socket);
      else this.#http1.accept(socket);
    });
  }

  /** Takes a connection whose TLS ended with the settings of the port. */
  #takeSecure(socket: TLSSocket): void {
    const isDivided = this.#handlers.division !== undefined;
    if (!isDivided || this.#division?.isEndedHere(socket) !== false) {
      this.#takeNamed(socket);
      return;
    }
    // Its hello named another server than its handshake, whose clients may have to show a certificate.
    socket.on("error", ignoreError);
    this.#broken("another server name than at first", socket);
    socket.destroy();
  }

  #takeNamed(socket: TLSSocket): void {
    if (!this.#hold(socket)) return;
    if (socket.alpnProtocol === "h2") this.#http2.accept(socket);
    else this.#http1.accept(socket);
  }

  /** False: its client may not connect. */
  #hold(socket: Socket): boolean {
    this.#proxied.name(socket);
    // Node keeps a client's address once it was asked for: a client that has left still has one in the log.
    void socket.remoteAddress;
    const { time, interval, retries } = this.#handlers.connections.keepAlive;
    socket.setKeepAlive(true, time, interval, retries);
    const rule = forbiddingRule(socket, this.#handlers.connectionRules);
    if (rule === undefined) return true;
    socket.on("error", ignoreError);
    this.#handlers.denied(rule, socket);
    this.#broken(`not allowed by ${rule}`, socket);
    socket.destroy();
    return false;
  }

  #broken(
    reason: string,
    { remoteAddress }: { readonly remoteAddress?: string | undefined },
  ): void {
    this.#handlers.broken?.(`the connection of ${remoteAddress} is broken off: ${reason}`);
  }

  #serve(request: EngineRequest, response: EngineResponse, framing: Framing): void {
    if (this.#handlers.handover?.takes(request, response, framing) === true) return;
    acceptRequest(request, response, framing, this.#port);
  }
}

function http2Limits(connections: ConnectionSettings): Http2Limits {
  const { http2, maxHeaders, idleTimeout, maxDuration } = connections;
  return { ...http2, maxHeaders, idleTimeout, maxDuration, bodyTimeout: BODY_TIME };
}
