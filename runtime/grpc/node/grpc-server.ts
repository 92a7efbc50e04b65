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
import { type UnknownConnectionSettings, UnknownConnections } from "./unknown-connections.ts";

/** A call of messages in both directions, as its server sees it. */
export interface ServerCall {
  readonly metadata: IncomingHttpHeaders;
  send(message: Uint8Array): void;
  /** Ends it: with a status other than success, it has failed. */
  end(status: number, message?: string): void;
  /** Ends it as not available here, and the connection with it: the caller finds another server over a new one. */
  sendAway(message: string): void;
  /**
   * The caller is known: from now on its messages are read, and its connection is no longer one of those that have to
   * become known.
   */
  know(): void;
}

/** What a server does with the messages of a call. */
export interface ServerCallHandler {
  onMessage(message: Uint8Array): void;
  /** The end, once, whoever ended it. */
  onEnd(): void;
}

/** Which method a server has, and where it listens. */
export interface GrpcServerSettings {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** PEM; absent: without TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** `/package.Service/Method`. */
  readonly path: string;
  /** What connections may do before a call of theirs is known. */
  readonly unknown: UnknownConnectionSettings;
  readonly accept: (call: ServerCall) => ServerCallHandler;
}

/** How often a client is asked whether it is there, and how long it may take to say so; milliseconds. */
const PING_EVERY = 20 * SECOND;
/** Calls of one connection at a time; a client needs one. */
const MAX_CALLS = 10;
/** How long the caller may go on with a call that the server has ended; milliseconds. */
const FAREWELL = 5 * SECOND;

/** A gRPC server with one method whose messages go both ways (grpc.io, PROTOCOL-HTTP2). */
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
      const know = () => {
        const { socket } = stream.session ?? {};
        if (socket !== undefined) this.#unknown.know(socket);
      };
      if (headers[":path"] === path) serve(stream, headers, know, accept);
      else refuse(stream, grpcStatus.unimplemented, "there is no such method");
    });
  }

  /** Opens the port; rejects when it can't. */
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

  /** New connections get this certificate; PEM. */
  useCertificate(pair: { readonly cert: string; readonly key: string }): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(pair);
  }

  /** Takes no more calls, and breaks off those that are open. */
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
    // A connection that breaks closes, too.
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
  know: () => void,
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
    // What was not read of it goes nowhere.
    stream.off("data", read).resume();
    setTimeout(() => stream.close(), FAREWELL).unref();
  };
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  const send = (message: Uint8Array): void => {
    if (!isOver && !stream.destroyed) stream.write(frameOf(message));
  };
  const sendAway = (message: string): void => {
    end(grpcStatus.unavailable, message);
    // Calls of it that are open go on to their end.
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
    know: () => {
      know();
      stream.on("data", read);
    },
  });
  stream.on("end", () => end(grpcStatus.ok));
  // A stream that breaks closes, too.
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
