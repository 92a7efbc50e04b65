import { Socket } from "node:net";
import type { TLSSocket, Server as TlsServer } from "node:tls";
import type { Metrics } from "../metrics/metrics.ts";
import { tlsHandshakes } from "../metrics/table/certificates.ts";
import { interceptConnections } from "../net/proxy-protocol/proxy-protocol.ts";
import { ignoreError } from "../net/socket-reads.ts";
import { receiveClientHello } from "./client-hello.ts";

/** Handlers of a connection whose ClientHello is awaited. */
interface HelloHandlers {
  /** Starts the handshake, with all received bytes back in the socket. */
  readonly start: () => void;
  /** Receives Node's code if there is no handshake. The socket may be destroyed already. */
  readonly failed: (code: "ERR_TLS_HANDSHAKE_TIMEOUT" | "ECONNRESET") => void;
}

/**
 * Server names that clients request, read before their handshakes. If a session of TLS 1.2 is resumed, OpenSSL reports the name
 * in the session, which has none because Node chooses certificates after OpenSSL would have stored it. Without the name, a
 * resumed connection is one for no name: it gets 421, or a neighbor's routes.
 */
class RequestedNames {
  readonly #names = new WeakMap<Socket, string>();

  /** Reads the server name of a connection, for at most `timeout` milliseconds. */
  read(socket: Socket, timeout: number, { start, failed }: HelloHandlers): void {
    const left = () => failed("ECONNRESET");
    socket.on("error", ignoreError);
    socket.once("close", left);
    receiveClientHello(socket, timeout, (hello) => {
      socket.off("close", left);
      if (hello.kind === "none") {
        failed(hello.isTimeout ? "ERR_TLS_HANDSHAKE_TIMEOUT" : "ECONNRESET");
        return;
      }
      if (hello.kind === "hello" && hello.serverName !== undefined)
        this.#names.set(socket, hello.serverName);
      socket.off("error", ignoreError);
      for (const bytes of hello.bytes.reverse()) socket.unshift(bytes);
      start();
    });
  }

  /** Sets the server name of a connection whose handshake resumed a session. `below`: the connection that was read. */
  complete(socket: TLSSocket, below: Socket): void {
    const name = this.#names.get(below);
    if (name === undefined || socket.servername || !socket.isSessionReused()) return;
    Object.assign(socket, { servername: name });
  }
}

/** Why a handshake failed: a label with few values. */
type HandshakeFailure =
  | "no-client-certificate"
  | "client-certificate"
  | "server-certificate"
  | "version"
  | "cipher"
  | "alpn"
  | "not-tls"
  | "timeout"
  | "closed"
  | "other";

/** A connection that ended before its handshake did. */
export interface FailedHandshake {
  /** Code of Node or OpenSSL, such as `CERT_HAS_EXPIRED`, or what is wrong with a verified certificate. */
  readonly code: string;
  /** Why the client's certificate was refused; `undefined` if something else failed. */
  readonly denial: string | undefined;
  /** Lower case; `undefined` if the client requested none or did not get that far. */
  readonly serverName: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
}

/** Handlers of a port's handshakes. */
export interface HandshakeHandlers {
  readonly metrics: Metrics;
  /** Sets the client's address of a connection. */
  readonly name: (socket: Socket) => void;
  readonly failed: (handshake: FailedHandshake) => void;
  /** Takes a connection after its handshake. */
  readonly secured: (socket: TLSSocket) => void;
}

/** Rules of a port's handshakes. */
interface HandshakeRules {
  /** Maximum milliseconds from the connection to its complete ClientHello. */
  readonly timeout: number;
  /** Returns why a verified client certificate is refused; `undefined` if it is accepted. */
  readonly problemOf: (socket: TLSSocket) => string | undefined;
}

/** Counts the handshakes of a server, and closes the connections of failed ones. */
export function watchHandshakes(
  server: TlsServer,
  { metrics, name, failed, secured }: HandshakeHandlers,
  { timeout, problemOf }: HandshakeRules,
): void {
  const names = new RequestedNames();
  let port = "";
  const counter = (result: HandshakeFailure | "ok") => metrics.counter(tlsHandshakes, port, result);
  server.on("listening", () => {
    const address = server.address();
    if (address !== null && typeof address === "object") port = String(address.port);
    // Creates the counter, so that it shows 0 before the first handshake.
    counter("ok");
  });
  const refuse = (socket: Socket, code: string, why: HandshakeFailure) => {
    counter(why).value += 1;
    const { remoteAddress, remotePort } = connectionOf(socket);
    const serverName = serverNameOf(socket);
    socket.destroy();
    failed({ code, denial: denialOf(why, code), serverName, remoteAddress, remotePort });
  };
  interceptConnections(server, (socket, start) =>
    names.read(socket, timeout, {
      start,
      failed: (code) => refuse(socket, code, failureOf(code, socket)),
    }),
  );
  server.on("connection", (socket) => {
    // A server that gets its connections from another one does not listen.
    if (port === "") port = String(socket.localPort ?? "");
    // After a failed handshake the address is gone; Node keeps it if it was read before.
    name(socket);
    void socket.remoteAddress;
  });
  server.on("secureConnection", (socket) => {
    names.complete(socket, connectionOf(socket));
    const problem = problemOf(socket);
    if (problem !== undefined) {
      socket.on("error", ignoreError);
      refuse(socket, problem, "client-certificate");
      return;
    }
    counter("ok").value += 1;
    secured(socket);
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    const code = refusedBecause(socket) ?? error.code ?? error.name;
    refuse(socket, code, failureOf(code, socket));
  });
}

/** Returns what is wrong with a client's certificate; Node reports it only there. */
function refusedBecause(socket: Socket | TLSSocket): string | undefined {
  const error = "authorizationError" in socket ? socket.authorizationError : undefined;
  return error ? String(error) : undefined;
}

function denialOf(why: HandshakeFailure, code: string): string | undefined {
  if (why === "client-certificate") return `client certificate refused (${code})`;
  return why === "no-client-certificate" ? "no client certificate" : undefined;
}

/** Returns the connection below TLS, which still knows its client; otherwise the connection itself. */
function connectionOf(socket: Socket): Socket {
  const below: unknown = Reflect.get(socket, "_parent");
  return below instanceof Socket ? below : socket;
}

function serverNameOf(socket: Socket): string | undefined {
  const name: unknown = Reflect.get(socket, "servername");
  return typeof name === "string" ? name.toLowerCase() : undefined;
}

function failureOf(code: string, socket: Socket): HandshakeFailure {
  if (refusedBecause(socket) !== undefined) return "client-certificate";
  return FAILURES.find(([codes]) => codes.test(code))?.[1] ?? "other";
}

/** Failures by OpenSSL's codes. Codes of alerts are reported by the client. */
const FAILURES: readonly (readonly [codes: RegExp, HandshakeFailure])[] = [
  [/PEER_DID_NOT_RETURN_A_CERTIFICATE/, "no-client-certificate"],
  [/CERTIFICATE_VERIFY_FAILED|BAD_SIGNATURE/, "client-certificate"],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+)/,
    "server-certificate",
  ],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_(LOW|HIGH)/, "version"],
  [/NO_SHARED_|NO_SUITABLE_|ALERT_HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY/, "cipher"],
  [/NO_APPLICATION_PROTOCOL/, "alpn"],
  [/HTTP_REQUEST|HTTPS_PROXY_REQUEST|WRONG_VERSION_NUMBER|UNKNOWN_PROTOCOL/, "not-tls"],
  [/HANDSHAKE_TIMEOUT/, "timeout"],
  [/^(ECONNRESET|EPIPE)$|UNEXPECTED_EOF/, "closed"],
];
