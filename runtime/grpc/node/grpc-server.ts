import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { grpcStatus } from "../../http/grpc-status.ts";
import { SECOND } from "../../process/units.ts";
import { FrameReader, frameOf } from "../frames.ts";
import { GrpcError } from "../status.ts";

/** A bidirectional call, on the server's side. */
export interface ServerCall {
  readonly metadata: IncomingHttpHeaders;
  send(message: Uint8Array): void;
  /** Ends the call with a status; any status other than 0 is a failure. */
  end(status: number, message?: string): void;
  /** Ends the call as unavailable and closes its connection, so that the caller connects to another server. */
  sendAway(message: string): void;
  /** Marks the caller as authenticated: its messages are read from now on, and its connection has no deadline any more. */
  markKnown(): void;
}

/** Receives the messages of a call. */
export interface ServerCallHandler {
  onMessage(message: Uint8Array): void;
  /** The call has ended. Called once, whichever side ended it. */
  onEnd(): void;
}

/** The method and address of a server. */
export interface GrpcServerSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** PEM; absent without TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** `/package.Service/Method`. */
  readonly path: string;
  /** Limits of connections before the caller of a call is authenticated. */
  readonly unknown: UnknownConnectionSettings;
  readonly accept: (call: ServerCall) => ServerCallHandler;
}

/** Milliseconds between two PINGs to a client; a client that has not answered by the next one is disconnected. */
const PING_EVERY = 20 * SECOND;
/** Maximum number of calls per connection at a time; a client needs one. */
const MAX_CALLS = 10;
/** Milliseconds until a call that the server has ended is closed, even if its caller continues. */
const FAREWELL = 5 * SECOND;

/** A gRPC server with one bidirectional method (grpc.io, PROTOCOL-HTTP2). */
export class GrpcServer {
  readonly #server: Http2Server | Http2SecureServer;
  readonly #unknown: UnknownConnections;
  readonly #sessions: Set<ServerHttp2Session> = new Set();

  private constructor({ tls, path, unknown, accept }: GrpcServerSettings) {
    this.#unknown = new UnknownConnections(unknown);
    const settings = { maxConcurrentStreams: MAX_CALLS };
    this.#server =
      tls === undefined ? createServer({ settings }) : createSecureServer({ ...tls, settings });
    this.#server.on("connection", (socket: Socket) => this.#unknown.add(socket));
    this.#server.on("session", (session) => this.#keep(session));
    this.#server.on("stream", (stream, headers) => {
      const markKnown = () => {
        const { socket } = stream.session ?? {};
        if (socket !== undefined) this.#unknown.markKnown(socket);
      };
      if (headers[":path"] === path) serve(stream, headers, markKnown, accept);
      else refuse(stream, grpcStatus.unimplemented, "unknown method");
    });
  }

  /** Opens the port; rejects if it cannot. */
  static open(settings: GrpcServerSettings): Promise<GrpcServer> {
    const opened = new GrpcServer(settings);
    return new Promise((resolve, reject) => {
      opened.#server.once("error", reject);
      opened.#server.listen(settings.port, settings.host, () => resolve(opened));
    });
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  }

  /** Sets the certificate for new connections; PEM. */
  useCertificate(pair: { readonly cert: string; readonly key: string }): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(pair);
  }

  /** Stops accepting calls and aborts the open ones. */
  close(): void {
    this.#server.close();
    for (const session of this.#sessions) session.destroy();
  }

  #keep(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    let isSilent = false;
    const timer = setInterval(() => {
      if (isSilent) {
        session.destroy();
        return;
      }
      isSilent = true;
      session.ping(() => {
        isSilent = false;
      });
    }, PING_EVERY);
    // A failed connection also closes.
    session.on("error", () => {});
    session.on("close", () => {
      clearInterval(timer);
      this.#sessions.delete(session);
    });
  }
}

function serve(
  stream: ServerHttp2Stream,
  metadata: IncomingHttpHeaders,
  markKnown: () => void,
  accept: GrpcServerSettings["accept"],
): void {
  let isOver = false;
  const end = (status: number, message = ""): void => {
    if (isOver || stream.destroyed) return;
    isOver = true;
    stream.once("wantTrailers", () =>
      stream.sendTrailers({ "grpc-status": String(status), "grpc-message": encodeURI(message) }),
    );
    stream.end();
    // The rest of the call is discarded.
    stream.off("data", read).resume();
    setTimeout(() => stream.close(), FAREWELL).unref();
  };
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  const send = (message: Uint8Array): void => {
    if (!isOver && !stream.destroyed) stream.write(frameOf(message));
  };
  const sendAway = (message: string): void => {
    end(grpcStatus.unavailable, message);
    // Its open calls continue to their end.
    stream.session?.close();
  };
  const reader = new FrameReader();
  const read = (piece: Buffer): void => {
    try {
      for (const message of reader.push(piece)) handler.onMessage(message);
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      end(error.code, error.message);
    }
  };
  const handler = accept({
    metadata,
    send,
    end,
    sendAway,
    markKnown: () => {
      markKnown();
      stream.on("data", read);
    },
  });
  stream.on("end", () => end(grpcStatus.ok));
  // A failed stream also closes.
  stream.on("error", () => {});
  stream.on("close", () => handler.onEnd());
}

function refuse(stream: ServerHttp2Stream, status: number, message: string): void {
  stream.on("error", () => {});
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": String(status),
      "grpc-message": encodeURI(message),
    },
    { endStream: true },
  );
}

/** Limits of connections whose caller is not authenticated yet. */
interface UnknownConnectionSettings {
  /** Maximum number at a time; beyond it, the oldest is closed. */
  readonly max: number;
  /** Milliseconds until a connection must be authenticated. */
  readonly time: number;
}

/** Closes connections whose caller does not authenticate in time. */
class UnknownConnections {
  readonly #settings: UnknownConnectionSettings;
  /** By the address and port of the peer, oldest first: with TLS, the socket of the session is another object. */
  readonly #sockets: Map<string, Socket> = new Map();

  constructor(settings: UnknownConnectionSettings) {
    this.#settings = settings;
  }

  /** Starts the deadline of a new connection. */
  add(socket: Socket): void {
    const end = endOf(socket);
    this.#sockets.set(end, socket);
    const timer = setTimeout(() => this.#drop(end), this.#settings.time);
    socket.once("close", () => {
      clearTimeout(timer);
      if (this.#sockets.get(end) === socket) this.#sockets.delete(end);
    });
    const [oldest] = this.#sockets.keys();
    if (oldest !== undefined && this.#sockets.size > this.#settings.max) this.#drop(oldest);
  }

  /** Lifts the deadline: the caller is authenticated. */
  markKnown(socket: Pick<Socket, "remoteAddress" | "remotePort">): void {
    this.#sockets.delete(endOf(socket));
  }

  #drop(end: string): void {
    this.#sockets.get(end)?.destroy();
    this.#sockets.delete(end);
  }
}

function endOf({
  remoteAddress,
  remotePort,
}: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress} ${remotePort}`;
}
