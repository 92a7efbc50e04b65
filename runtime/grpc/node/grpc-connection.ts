import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { connectorsTo } from "../../http/upstream/node/connectors.ts";
import { openHttp2Session } from "../../http/upstream/node/http2-session.ts";
import { readServerUrl } from "../../http/upstream/node/server-url.ts";
import type { UpstreamSettings } from "../../http/upstream/upstream.ts";
import type { Connect } from "../../net/connector.ts";
import type { CallHandler, CallStream, SharedConnection } from "../../process/shared-connection.ts";
import { startupError } from "../../process/startup-error.ts";
import { MINUTE, MiB, SECOND } from "../../process/units.ts";

/** The server of calls and how it is reached. */
export interface GrpcTarget {
  /** `host:port`, or `unix:/run/agent.sock`. */
  readonly name: string;
  readonly scheme: string;
  readonly authority: string;
  readonly origin: string;
  /** Equal for targets that may share a connection. */
  readonly key: string;
  readonly connect: Connect;
  /** Milliseconds until a connection is established, including the first frame of its server. */
  readonly connectTimeout: number;
}

/** Reads the settings of a target. Throws StartupError on a malformed URL or an unusable TLS file. */
export function openGrpcTarget(settings: UpstreamSettings): GrpcTarget {
  const { connectTimeout, keepAlive, tls, tunnel } = settings;
  const server = readServerUrl(settings.url);
  if (server === undefined) {
    throw startupError(`"${settings.url}" is not the URL of a gRPC server`);
  }
  const { url, name } = server;
  return {
    name,
    scheme: url.protocol.slice(0, -1),
    authority: url.host,
    origin: url.origin,
    key: JSON.stringify([url.origin, name, connectTimeout, keepAlive, tls, tunnel]),
    connect: connectorsTo(server, settings).http2(),
    connectTimeout,
  };
}

/** Returns a connection that is opened by the first call. */
export function openGrpcConnection(target: GrpcTarget): SharedConnection {
  return new GrpcConnection(target);
}

/** Flow-control windows: bytes that a server may send on one call and on all calls before it has to wait. */
const CALL_WINDOW = 1 * MiB;
const CONNECTION_WINDOW = 4 * MiB;

/** The first and the maximum pause after a failed connection attempt; each pause doubles. */
const FIRST_PAUSE = 100;
const MAX_PAUSE = 5 * SECOND;

/** Time after which a connection without calls is closed. */
const IDLE_TIME = 5 * MINUTE;

/** Maximum time for the response to a PING before the peer counts as dead. */
const PING_TIME = 5 * SECOND;

/** Maximum number of connections; beyond it, calls wait for others to end. */
const MAX_SESSIONS = 100;

/** An open connection and its number of calls in flight. */
interface OpenSession {
  readonly session: ClientHttp2Session;
  readonly resets: ResetAllowance;
  calls: number;
  /**
   * Whether a PING is in flight. Only one is sent at a time: late calls occur in numbers, and servers close connections
   * with many PINGs.
   */
  isPinging: boolean;
}

/**
 * Usually one connection. More are opened if the server accepts no more calls on one, as streams may last as long as their
 * clients stay.
 */
class GrpcConnection implements SharedConnection {
  readonly #target: GrpcTarget;
  /** Oldest first, so that the newer ones may become idle. */
  #sessions: readonly OpenSession[] = [];
  #opening: Promise<OpenSession> | undefined;
  #pause = 0;
  #failure: { readonly error: Error; readonly until: number } | undefined;

  constructor(target: GrpcTarget) {
    this.#target = target;
  }

  async start(head: readonly string[], handler: CallHandler): Promise<CallStream> {
    const free = this.#sessions.find(hasRoom);
    const open = free === undefined ? await this.#withRoom() : take(free);
    try {
      return new GrpcCall(open.session.request(head), handler, open.resets, () => leave(open));
    } catch (error) {
      leave(open);
      throw error;
    }
  }

  suspect(): void {
    for (const open of this.#sessions) if (!open.isPinging) ping(open);
  }

  /**
   * Returns a connection with room, opening one if necessary. At the maximum, returns the least busy one, on which calls
   * wait.
   */
  async #withRoom(): Promise<OpenSession> {
    const [least] = this.#sessions.toSorted((a, b) => a.calls - b.calls);
    if (least !== undefined && this.#sessions.length >= MAX_SESSIONS) return take(least);
    const opening = this.#reopen();
    const opened = await (least === undefined ? opening : opening.catch(() => least));
    // If a server accepts no calls, one call has to find that out.
    if (opened === least || opened.calls === 0) return take(opened);
    // Other calls may have waited for the same connection and taken its room.
    const free = this.#sessions.find(hasRoom);
    return free === undefined ? this.#withRoom() : take(free);
  }

  #reopen(): Promise<OpenSession> {
    if (this.#opening !== undefined) return this.#opening;
    const { until = 0, error } = this.#failure ?? {};
    if (error !== undefined && performance.now() < until) return Promise.reject(error);
    this.#opening = this.#connected()
      .then((session) => this.#keep(session))
      .catch((reason: Error) => this.#fail(reason))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #connected(): Promise<ClientHttp2Session> {
    const { connect, connectTimeout, origin } = this.#target;
    const windows = { streamWindow: CALL_WINDOW, connectionWindow: CONNECTION_WINDOW };
    return openHttp2Session({ origin, connect, connectTimeout, ...windows });
  }

  #keep(session: ClientHttp2Session): OpenSession {
    this.#pause = 0;
    this.#failure = undefined;
    const open: OpenSession = { session, resets: new ResetAllowance(), calls: 0, isPinging: false };
    this.#sessions = [...this.#sessions, open];
    session.unref();
    // Calls in flight continue; the next call opens another connection.
    const retire = () => {
      this.#sessions = this.#sessions.filter((each) => each !== open);
      if (!session.closed) session.close();
    };
    session.setTimeout(IDLE_TIME, retire);
    session.on("goaway", retire);
    session.on("close", retire);
    return open;
  }

  /** Records the failure; nothing reconnects until the pause is over. */
  #fail(error: Error): never {
    this.#pause = Math.min(MAX_PAUSE, Math.max(FIRST_PAUSE, this.#pause * 2));
    this.#failure = { error, until: performance.now() + this.#pause };
    throw error;
  }
}

function hasRoom({ session, calls }: OpenSession): boolean {
  return calls < (session.remoteSettings.maxConcurrentStreams ?? Infinity);
}

/** Counts one more call. An idle connection does not keep the process alive; one with calls does. */
function take(open: OpenSession): OpenSession {
  if (open.calls === 0) open.session.ref();
  open.calls += 1;
  return open;
}

function leave(open: OpenSession): void {
  open.calls -= 1;
  if (open.calls === 0) open.session.unref();
}

function ping(open: OpenSession): void {
  const { session } = open;
  if (session.destroyed) return;
  open.isPinging = true;
  const timer = setTimeout(() => session.destroy(new Error("no response to PING")), PING_TIME);
  timer.unref();
  session.ping(() => {
    open.isPinging = false;
    clearTimeout(timer);
  });
}

/** How long a call that must not be reset now may end by itself. */
const PATIENCE = 2 * SECOND;

/** One call: an HTTP/2 stream. */
class GrpcCall implements CallStream {
  readonly #stream: ClientHttp2Stream;
  readonly #resets: ResetAllowance;
  #drainListener: (() => void) | undefined;
  #laterReset: NodeJS.Timeout | undefined;

  /** `resets`: the allowance of its connection; `onOver` is called when the stream is closed. */
  constructor(
    stream: ClientHttp2Stream,
    handler: CallHandler,
    resets: ResetAllowance,
    onOver: () => void,
  ) {
    this.#stream = stream;
    this.#resets = resets;
    let broken: Error | undefined;
    stream.on("response", (fields, flags) => {
      handler.onHead(fields, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    stream.on("data", (chunk: Buffer) => handler.onData(chunk));
    stream.on("trailers", (fields) => handler.onTrailers(fields));
    stream.on("error", (error) => {
      broken = error;
    });
    stream.on("close", () => {
      clearTimeout(this.#laterReset);
      onOver();
      handler.onClose(stream.rstCode ?? 0, broken);
    });
  }

  write(bytes: Uint8Array): boolean {
    return this.#stream.writable ? this.#stream.write(bytes) : true;
  }

  onDrain(listener: () => void): void {
    if (this.#drainListener === undefined) this.#stream.on("drain", () => this.#drainListener?.());
    this.#drainListener = listener;
  }

  end(bytes?: Uint8Array): void {
    if (this.#stream.writable) this.#stream.end(bytes);
  }

  cancel(): void {
    if (this.#stream.closed || this.#laterReset !== undefined) return;
    if (this.#resets.take()) this.#stream.close(constants.NGHTTP2_CANCEL);
    else this.#cancelLater();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /**
   * Cancels later, when most calls have ended by themselves. Discards incoming data meanwhile, as it would use the window
   * of other calls.
   */
  #cancelLater(): void {
    this.end();
    this.resume();
    this.#laterReset = setTimeout(() => {
      this.#laterReset = undefined;
      this.cancel();
    }, PATIENCE);
    this.#laterReset.unref();
  }
}

/** Burst of resets, and milliseconds per further one. nghttp2 closes a connection at 1,000 and 33 per second. */
const AT_ONCE = 100;
const INTERVAL = 50;

/**
 * Limits the resets of calls on a connection. Servers close connections with too many resets (CVE-2023-44487) and with them
 * the calls of others, so clients that disconnect must not cause that.
 */
class ResetAllowance {
  #left = AT_ONCE;
  #since = performance.now();

  /** Returns false if no reset is allowed now. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(AT_ONCE, this.#left + (now - this.#since) / INTERVAL);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
