/** The trace that an exchange is a part of, where it is recorded: what policies and backends say to it. */
export interface ExchangeTrace {
  /**
   * Begins the span of a call that the exchange causes. `name`: what is called, of few values: `GET`, `tools/call echo`.
   * `hasItsError`: the exchange is about this call, and the error that is noted of it is the call's.
   */
  beginCall(name: string, hasItsError?: boolean): CallSpan;
  /** The exchange has ended after so many milliseconds; `status` is undefined when the client left unanswered. */
  end(status: number | undefined, duration: number): void;
}

/** The span of a call to another server, while it lasts. */
export interface CallSpan {
  /** What the call says in `traceparent` (W3C Trace Context). */
  readonly traceparent: string;
  /** The same as a line of HTTP/1.1 with its line break. */
  readonly traceparentLine: string;
  /** False: nothing that is said of the call is kept, and nobody has to say it. */
  readonly isRecording: boolean;
  /** Adds an attribute; undefined adds none. */
  text(name: string, value: string | undefined): void;
  number(name: string, value: number | undefined): void;
  /** A list of texts; undefined adds none. */
  list(name: string, values: readonly string[] | undefined): void;
  /** Says which server is asked over HTTP, and for what. A query may hold a key, and is left out. */
  asks(server: CalledOver, method: string, path: string): void;
  /** The head of an HTTP response has come. */
  responded(status: number): void;
  /** All of it has: the call has ended, and a status from 400 up, or the error of the exchange, is what went wrong. */
  completed(): void;
  /** The call has ended; `error`: what went wrong, of few values. Only the first end counts. */
  end(error?: string): void;
}

/** A server as upstreams have it. */
interface CalledOver {
  /** `host:port`, or `unix:/run/agent.sock`. */
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
}
