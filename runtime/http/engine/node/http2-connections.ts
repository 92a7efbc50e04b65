import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { Http2Settings } from "../../../net/connection-settings.ts";
import { FIRST_REQUEST_TIME } from "../../../net/listen-on.ts";
import { Http2Request, Http2Response, rawHeaders, readHttp2Head } from "./http2-stream.ts";

/** Interface of a port for its connections. */
export interface Http2Port {
  /** Returns the settings of new connections. */
  readonly settings: () => Http2Limits;
  /** Serves a request. `hasBody`: from its framing. */
  readonly serve: (request: Http2Request, response: Http2Response, hasBody: boolean) => void;
  /** Counts a connection that was closed because of malformed data. */
  readonly malformed: () => void;
  /** Reports why a connection was aborted. */
  readonly broken: (reason: string, socket: Socket) => void;
}

/** HTTP/2 settings, and those shared with other versions. */
export interface Http2Limits extends Http2Settings {
  readonly maxHeaders: number;
  /** Milliseconds; no limit if absent. */
  readonly maxDuration?: number | undefined;
  /** Milliseconds after which a connection without streams is closed, and a stream whose client reads nothing. */
  readonly idleTimeout: number;
  /** Maximum milliseconds for the body of a request. */
  readonly bodyTimeout: number;
}

/** Maximum number of open streams; the client queues more. */
const MAX_CONCURRENT_STREAMS = 100;

/** HTTP/2 connections of a port. */
export class Http2Connections {
  readonly #port: Http2Port;
  readonly #sessions: Set<ServerHttp2Session> = new Set();
  /** Sessions that have had a stream. */
  readonly #used: WeakSet<ServerHttp2Session> = new WeakSet();
  #isClosing = false;

  constructor(port: Http2Port) {
    this.#port = port;
  }

  /** Takes an HTTP/2 connection of which nothing was read, or whose bytes are back in the socket. */
  accept(socket: Socket): void {
    const limits = this.#port.settings();
    // HTTP/1.1 keeps half-open connections and closes them itself; nothing would close these.
    socket.allowHalfOpen = false;
    const session = performServerHandshake(socket, sessionOptions(limits));
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    keepAlive(session, limits);
    session.on("error", (error: NodeJS.ErrnoException) => {
      this.#port.broken(error.code ?? error.name, socket);
      if (error.code?.startsWith("ERR_HTTP2_") === true) this.#port.malformed();
    });
    endWhenIdle(session, limits);
    endWithAge(session, limits);
    session.setLocalWindowSize(limits.connectionWindowSize);
    session.once("stream", () => this.#used.add(session));
    if (this.#isClosing) closeAfterFirst(session);
    session.on("stream", (stream, _headers, flags, raw) =>
      this.#serve(stream, flags, rawHeaders(raw), socket, limits),
    );
  }

  /** Accepts no more streams and lets those in flight end. A connection without a stream yet has time for its first one. */
  close(): void {
    this.#isClosing = true;
    for (const session of this.#sessions) {
      if (this.#used.has(session)) session.close();
      else closeAfterFirst(session);
    }
  }

  /** Aborts all connections. */
  destroy(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #serve(
    stream: ServerHttp2Stream,
    flags: number,
    headers: readonly string[],
    socket: Socket,
    { bodyTimeout, idleTimeout }: Http2Limits,
  ): void {
    // A reset also emits "close", which exchanges listen to.
    stream.on("error", () => {});
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    if (hasBody) {
      const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), bodyTimeout);
      stream.once("end", () => clearTimeout(timer));
      stream.once("close", () => clearTimeout(timer));
    }
    const head = readHttp2Head(headers);
    if (typeof head === "string") {
      this.#refuse(stream, head, socket);
      return;
    }
    const request = new Http2Request(stream, head, socket, hasBody);
    this.#port.serve(request, new Http2Response(stream, request, idleTimeout), hasBody);
  }

  /** Responds without an exchange and accepts no further streams, as in HTTP/1.1. */
  #refuse(stream: ServerHttp2Stream, reason: string, socket: Socket): void {
    this.#port.broken(reason, socket);
    this.#port.malformed();
    stream.respond({ ":status": 400 }, { endStream: true });
    stream.close(constants.NGHTTP2_NO_ERROR);
    stream.session?.close();
  }
}

/**
 * Limits against floods. nghttp2 itself ends connections that send too many CONTINUATION frames for one head, or PING and
 * SETTINGS faster than their responses leave. Resets by the client (CVE-2023-44487), and errors that make the gateway reset
 * (CVE-2025-8671), are limited by the rates below.
 */
function sessionOptions(limits: Http2Limits) {
  return {
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      initialWindowSize: limits.windowSize,
      maxFrameSize: limits.frameSize,
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
      maxHeaderListSize: limits.maxHeaderSize,
    },
    // The request check refuses blanks around a value; nghttp2 would silently drop the field.
    strictFieldWhitespaceValidation: false,
    // A few more than allowed, so that the request check can answer with 431. Beyond that, the stream is reset.
    maxHeaderListPairs: limits.maxHeaders + 32,
    maxSessionMemory: 10,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    maxSettings: 32,
    maxOutstandingPings: 10,
    streamResetBurst: 200,
    streamResetRate: 33,
  };
}

/** Takes one more stream if it arrives in time. */
function closeAfterFirst(session: ServerHttp2Session): void {
  const timer = setTimeout(() => session.close(), FIRST_REQUEST_TIME);
  session.once("stream", () => session.close());
  session.once("close", () => clearTimeout(timer));
}

/** Sends GOAWAY once the connection is old; its streams end by themselves. */
function endWithAge(session: ServerHttp2Session, { maxDuration }: Http2Limits): void {
  if (maxDuration === undefined) return;
  const timer = setTimeout(() => session.close(), maxDuration);
  session.once("close", () => clearTimeout(timer));
}

/** Milliseconds that the client of an idle connection has to receive the GOAWAY. */
const LINGER_TIME = 1000;

/**
 * Closes a connection without requests for a while, whatever else its client sends: PINGs, or a head that never ends, which
 * Node would wait for.
 */
function endWhenIdle(session: ServerHttp2Session, { idleTimeout }: Http2Limits): void {
  let streams = 0;
  const destroy = () => {
    if (streams === 0) session.destroy();
  };
  const timer = setTimeout(() => {
    // The end of the last stream restarts the timer.
    if (streams > 0) return;
    session.close();
    setTimeout(destroy, LINGER_TIME).unref();
  }, idleTimeout);
  session.on("stream", (stream) => {
    streams += 1;
    stream.once("close", () => {
      streams -= 1;
      if (streams === 0 && !session.closed) timer.refresh();
    });
  });
  session.once("close", () => clearTimeout(timer));
}

/** Sends PINGs on a connection, and closes it if a response is late. */
function keepAlive(
  session: ServerHttp2Session,
  { keepAliveInterval, keepAliveTimeout }: Http2Limits,
): void {
  if (keepAliveInterval === undefined) return;
  let lost: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    lost ??= setTimeout(() => session.destroy(), keepAliveTimeout);
    session.ping(() => {
      clearTimeout(lost);
      lost = undefined;
    });
  }, keepAliveInterval);
  session.once("close", () => {
    clearInterval(timer);
    clearTimeout(lost);
  });
}
