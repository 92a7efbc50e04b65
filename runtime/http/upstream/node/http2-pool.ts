import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
} from "node:http2";
import { MINUTE } from "../../../process/units.ts";
import { type Http2Destination, openHttp2Session } from "./http2-session.ts";

/** Maximum number of streams of a connection, if its server allows as many. */
const MAX_STREAMS = 100;

/** Maximum number of requests of a connection: stream ids are not reused (RFC 9113 5.1.1), and run out. */
const MAX_REQUESTS = 1_000_000;

/** How long a connection without requests stays open. */
const IDLE_TIME = 5 * MINUTE;

/** A request that waits for a connection. */
interface Waiter {
  use(connection: Http2Connection): void;
  fail(error: Error): void;
}

/** HTTP/2 connections to one destination. Another one is opened if the existing ones have no free stream. */
export class Http2Pool {
  readonly #destination: Http2Destination;
  readonly #connections = new Set<Http2Connection>();
  readonly #waiting = new Set<Waiter>();
  #opening = 0;
  #isClosed = false;

  constructor(destination: Http2Destination) {
    this.#destination = destination;
  }

  /** Number of waiting requests, for the metrics. */
  get stats(): { readonly queued: number } {
    return { queued: this.#waiting.size };
  }

  /**
   * Calls `use` with a connection that has a free stream, synchronously if there is one. The returned function stops waiting.
   */
  take(waiter: Waiter): () => void {
    const free = this.#withRoom();
    if (free !== undefined) {
      waiter.use(free);
      return () => {};
    }
    this.#waiting.add(waiter);
    this.#openEnough();
    return () => this.#waiting.delete(waiter);
  }

  /** Closes connections once their requests have ended, waiting ones included. */
  close(): void {
    this.#isClosed = true;
    this.#closeUnneeded();
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #openEnough(): void {
    while (this.#opening * MAX_STREAMS < this.#waiting.size) {
      this.#opening += 1;
      openHttp2Session(this.#destination).then(
        (session) => this.#opened(session),
        (error: Error) => this.#failed(error),
      );
    }
  }

  #opened(session: ClientHttp2Session): void {
    this.#opening -= 1;
    const connection = new Http2Connection(session, () => this.#serve());
    const leave = () => {
      this.#connections.delete(connection);
      // Streams in flight continue.
      if (!session.closed) session.close();
      this.#serve();
    };
    session.setTimeout(IDLE_TIME, () => {
      if (connection.streams === 0) leave();
    });
    session.on("goaway", leave);
    session.on("close", leave);
    this.#connections.add(connection);
    this.#serve();
  }

  /** Notifies all waiting requests of a failed attempt, unless an existing connection may serve them. */
  #failed(error: Error): void {
    this.#opening -= 1;
    if (this.#opening > 0 || this.#connections.size > 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.fail(error);
  }

  #serve(): void {
    for (const waiter of this.#waiting) {
      const free = this.#withRoom();
      if (free === undefined) break;
      this.#waiting.delete(waiter);
      waiter.use(free);
    }
    this.#openEnough();
    this.#closeUnneeded();
  }

  #closeUnneeded(): void {
    if (!this.#isClosed || this.#waiting.size > 0) return;
    for (const { session } of this.#connections) session.close();
  }
}

/** One connection of a pool. */
export class Http2Connection {
  readonly session: ClientHttp2Session;
  readonly #onRoom: () => void;
  /** Number of streams in flight. */
  streams = 0;
  #requests = 0;

  /** `onRoom`: called each time a stream has ended. */
  constructor(session: ClientHttp2Session, onRoom: () => void) {
    this.session = session;
    this.#onRoom = onRoom;
    session.unref();
  }

  get hasRoom(): boolean {
    const { closed, destroyed, remoteSettings } = this.session;
    const most = Math.min(MAX_STREAMS, remoteSettings.maxConcurrentStreams ?? MAX_STREAMS);
    return !closed && !destroyed && this.streams < most;
  }

  /** Opens a stream. Throws if the head is invalid. */
  request(head: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.session.request(head, options);
    // An idle connection does not keep the process alive; one with requests does.
    if (this.streams === 0) this.session.ref();
    this.streams += 1;
    this.#requests += 1;
    // Streams in flight continue, and the next request uses another connection.
    if (this.#requests === MAX_REQUESTS) this.session.close();
    stream.once("close", () => {
      this.streams -= 1;
      if (this.streams === 0) this.session.unref();
      this.#onRoom();
    });
    return stream;
  }
}
