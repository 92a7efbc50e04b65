import { createServer, type Server, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from "node:tls";
import type { ConnectionSettings } from "../../../net/connection-settings.ts";
import { closeQuietly, FIRST_REQUEST_TIME, listenOn } from "../../../net/listen-on.ts";
import type { PortServer, PreparedDivision, TlsDivision } from "../../../net/port-server.ts";
import { interceptConnections, ProxiedServer } from "../../../net/proxy-protocol/proxy-protocol.ts";
import { ignoreError, ReadMemory, setKeepAlive } from "../../../net/socket-reads.ts";
import { WriteBatch } from "../../../net/write-batch.ts";
import type { GatewayContext } from "../../../process/gateway-context.ts";
import { SECOND } from "../../../process/units.ts";
import { Deadlines } from "../../../time/deadlines.ts";
import type { Certificates } from "../../../tls/certificates.ts";
import { handshakeOptions, isSameHandshake } from "../../../tls/handshake.ts";
import type { TlsSettings } from "../../../tls/tls-settings.ts";
import { acceptRequest } from "../accept-request.ts";
import type { EngineRequest, EngineResponse, Framing } from "../engine.ts";
import { type RequestPort, type ServerHandlers, tunnelRefusal } from "../server-handlers.ts";
import {
  BODY_TIME,
  HEAD_TIME,
  type Http1Port,
  Http1ServerConnection,
  type PlainConnection,
} from "./http1-server-connection.ts";
import { Http2Connections, type Http2Limits } from "./http2-connections.ts";

/** Server of one port for HTTP/1.1 and HTTP/2. */
export class HttpServer implements PortServer {
  #handlers: ServerHandlers;
  readonly #port: RequestPort;
  readonly #server: Server | TlsServer;
  readonly #http1: Http1Connections;
  readonly #http2: Http2Connections;
  readonly #proxied: ProxiedServer;
  /** Connections of clients about which a server is still asked. */
  readonly #undecided = new Set<Socket>();
  #certificates: Certificates | undefined;
  /** Divides connections by server name. It keeps its existing connections once the port is no longer divided. */
  #division: TlsDivision | undefined;

  /** With certificates, the port uses TLS. That cannot change later, but the certificates can. */
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
        // A client that offers protocols must find one of them.
        ALPNProtocols: ["http/1.1"],
        ...handshakeOptions(certificates.settings, () => this.#certificates),
      });
      this.#server = server;
      certificates.watchHandshakes(server, {
        secured: (socket) => this.#takeSecure(socket),
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

  /** Applies handlers to new requests. */
  setHandlers(handlers: ServerHandlers): void {
    this.#handlers = handlers;
    const { division, handover } = handlers;
    handover?.open(this.#port);
    if (division !== undefined) this.#division = this.#divided(division);
    this.#server.maxConnections = handlers.connections.maxConnections;
  }

  /** Whether the port can continue with these settings: those of the handshake cannot change while it is open. */
  canUse(tls: TlsSettings | undefined, division: PreparedDivision | undefined): boolean {
    return (
      isSameHandshake(this.#certificates?.settings, tls) &&
      (this.#handlers.division?.handshakes ?? "") === (division?.handshakes ?? "")
    );
  }

  /** Uses these certificates for new connections and stops watching the previous ones. */
  useCertificates(certificates: Certificates): void {
    this.#certificates?.close();
    this.#certificates = certificates;
    const use = () => {
      if ("setSecureContext" in this.#server) this.#server.setSecureContext(certificates.defaults);
    };
    use();
    certificates.watch(use, this.#handlers.warn, this.#port.gateway.metrics);
  }

  /** Opens the port (0: any free one) on `host`, or on all addresses. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number> {
    return listenOn(this.#server, port, host, this.#port.gateway.threads !== undefined);
  }

  /** Accepts no more connections and closes the others as soon as they are idle. Resolves when the last one has closed. */
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

  /** Aborts all connections. */
  closeAllConnections(): void {
    this.#http1.destroy();
    this.#http2.destroy();
    this.#division?.destroy();
    for (const socket of this.#undecided) socket.destroy();
  }

  #divided(division: PreparedDivision): TlsDivision {
    const server = {
      secured: (socket: TLSSocket) => this.#takeNamed(socket),
      name: (socket: Socket) => this.#proxied.name(socket),
    };
    return division.open(this.#port.gateway, server, this.#division);
  }

  /** Passes a TLS connection to the settings of its server name. */
  #divide(socket: Socket, endHere: () => void): void {
    if (this.#handlers.division === undefined || this.#division === undefined) {
      endHere();
      return;
    }
    this.#proxied.name(socket);
    this.#division.receive(socket, endHere);
  }

  #takePlain(socket: Socket): void {
    this.#admit(socket, () => {
      const time = this.#http1.isClosing ? FIRST_REQUEST_TIME : HEAD_TIME;
      sniffProtocol(socket, this.#http1.deadlines, time, (version) => {
        if (version === "http2") this.#http2.accept(socket);
        else this.#http1.accept(socket);
      });
    });
  }

  /** Takes a connection whose handshake used the settings of the port. */
  #takeSecure(socket: TLSSocket): void {
    const isDivided = this.#handlers.division !== undefined;
    if (!isDivided || this.#division?.isEndedHere(socket) !== false) {
      this.#takeNamed(socket);
      return;
    }
    // Its hello requested another server name than its handshake, whose clients may need a certificate.
    socket.on("error", ignoreError);
    this.#broken("the server name changed during the handshake", socket);
    socket.destroy();
  }

  #takeNamed(socket: TLSSocket): void {
    this.#admit(socket, () => {
      if (socket.alpnProtocol === "h2") this.#http2.accept(socket);
      else this.#http1.accept(socket);
    });
  }

  /** Continues with a connection whose client may connect, and aborts the others. */
  #admit(socket: Socket, then: () => void): void {
    this.#proxied.name(socket);
    // Node caches a client's address once it was read, so it is known in the log after the client has left.
    void socket.remoteAddress;
    setKeepAlive(socket, this.#handlers.connections.keepAlive);
    const { connectionRules } = this.#handlers;
    if (connectionRules === undefined) {
      then();
      return;
    }
    let isDecided = false;
    const decided = () => {
      isDecided = true;
      this.#undecided.delete(socket);
    };
    const allowed = () => {
      decided();
      then();
    };
    connectionRules.judge(socket, this.#port.gateway.metrics, allowed, (rule) => {
      decided();
      socket.on("error", ignoreError);
      this.#handlers.denied(rule, socket);
      this.#broken(`not allowed by ${rule}`, socket);
      socket.destroy();
    });
    if (isDecided) return;
    this.#undecided.add(socket);
    socket.once("close", decided);
  }

  #broken(
    reason: string,
    { remoteAddress }: { readonly remoteAddress?: string | undefined },
  ): void {
    this.#handlers.broken?.(`the connection of ${remoteAddress} is aborted: ${reason}`);
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

/** Interface of a port for its connections. */
export interface Http1ConnectionsPort
  extends Pick<Http1Port, "serve" | "malformed" | "broken" | "writes"> {
  readonly settings: () => ConnectionSettings;
  /** Status that refuses tunnels; `undefined` if clients may request one. */
  readonly tunnelRefusal: () => 400 | 501 | undefined;
}

/** Maximum bytes of a short read; most requests fit into one. */
const READ_SIZE = 65_536;

/** HTTP/1.1 connections of a port, and connections whose protocol is not known yet. */
class Http1Connections implements Http1Port {
  readonly deadlines = new Deadlines<PlainConnection>();
  readonly writes: WriteBatch;
  readonly memory: ReadMemory = new ReadMemory(READ_SIZE);
  isClosing = false;
  readonly serve: Http1Port["serve"];
  readonly malformed: Http1Port["malformed"];
  readonly broken: Http1Port["broken"];
  readonly #port: Http1ConnectionsPort;
  /** Lines for the latest idle timeout. */
  #keptLines = "";
  #keptTime: number | undefined;

  constructor(port: Http1ConnectionsPort) {
    this.#port = port;
    this.writes = port.writes;
    this.serve = port.serve;
    this.malformed = port.malformed;
    this.broken = port.broken;
  }

  get idleTimeout(): number {
    return this.#port.settings().idleTimeout;
  }

  get keptLines(): string {
    const { idleTimeout } = this;
    if (idleTimeout !== this.#keptTime) {
      this.#keptTime = idleTimeout;
      const seconds = Math.floor(idleTimeout / SECOND);
      this.#keptLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`;
    }
    return this.#keptLines;
  }

  get tunnelRefusal(): 400 | 501 | undefined {
    return this.#port.tunnelRefusal();
  }

  /** Takes an HTTP/1.1 connection of which nothing was read, or whose bytes are back in the socket. */
  accept(socket: Socket): void {
    const connection = new Http1ServerConnection(socket, this, this.#port.settings());
    this.deadlines.add(connection);
  }

  gone(connection: Http1ServerConnection): void {
    this.deadlines.delete(connection);
  }

  /** Closes connections as soon as they are idle. */
  close(): void {
    this.isClosing = true;
    this.deadlines.visit((connection) => connection.closeIdle());
  }

  /** Aborts all connections. */
  destroy(): void {
    this.deadlines.visit(({ socket }) => socket.destroy());
  }
}

/** Start of HTTP/2's connection preface, a method that HTTP/1.1 does not have (RFC 9113 3.4). */
const preface = Buffer.from("PRI ");

/**
 * Waits for the first bytes of a connection, reports their version of HTTP, and leaves them in the socket. Closes a connection
 * that sends nothing within `timeout` milliseconds. Nothing of this stays with the long-lived connection.
 */
function sniffProtocol(
  socket: Socket,
  deadlines: Deadlines<PlainConnection>,
  timeout: number,
  then: (version: "http1" | "http2") => void,
): void {
  let first: Buffer | undefined;
  const leave = () => socket.destroy();
  const silent: PlainConnection & { deadline: number } = {
    socket,
    deadline: deadlines.after(timeout),
    place: 0,
    closeIdle: () => {
      silent.deadline = Math.min(silent.deadline, deadlines.after(FIRST_REQUEST_TIME));
    },
    expire: (tick) => {
      if (socket.destroyed) deadlines.delete(silent);
      else if (tick >= silent.deadline) leave();
    },
  };
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    first = first === undefined ? chunk : Buffer.concat([first, chunk]);
    const isHttp2 = preface.subarray(0, first.length).equals(first.subarray(0, preface.length));
    if (isHttp2 && first.length < preface.length) return;
    deadlines.delete(silent);
    socket.off("readable", look);
    socket.off("end", leave);
    socket.unshift(first);
    then(isHttp2 ? "http2" : "http1");
    socket.off("error", leave);
  };
  deadlines.add(silent);
  socket.on("error", leave);
  socket.on("end", leave);
  socket.on("readable", look);
}
