/** The recorded trace of an exchange, as policies and backends use it. */
export interface ExchangeTrace {
  /**
   * Starts the span of a call that the exchange causes. `name`: what is called, with few values: `GET`, `tools/call echo`.
   * `hasItsError`: whether the exchange is about this call, so that the exchange's error is the call's.
   */
  beginCall(name: string, hasItsError?: boolean): CallSpan;
  /** Starts the span of work of the gateway itself, such as `custom tenant request`. */
  beginStep(name: string): CallSpan;
  /** Ends the trace after so many milliseconds; `status` is `undefined` if the client left without a response. */
  end(status: number | undefined, duration: number): void;
}

/** The span of a call to another server. */
export interface CallSpan {
  /** Value of `traceparent` for the call (W3C Trace Context). */
  readonly traceparent: string;
  /** That field as a line of HTTP/1.1 with its line break. */
  readonly traceparentLine: string;
  /** Whether attributes are recorded; if not, callers can skip them. */
  readonly isRecording: boolean;
  /** Adds an attribute, unless the value is `undefined`. */
  text(name: string, value: string | undefined): void;
  number(name: string, value: number | undefined): void;
  /** Adds a list of strings, unless it is `undefined`. */
  list(name: string, values: readonly string[] | undefined): void;
  /** Records the server of an HTTP call and the request. A query may hold a key, and is left out. */
  asks(server: CalledOver, method: string, path: string): void;
  /** Records the head of an HTTP response. */
  responded(status: number): void;
  /** Ends the span after a complete response; its error is a status from 400 up, or the error of the exchange. */
  completed(): void;
  /** Ends the span; `error`: what went wrong, with few values. Only the first end counts. */
  end(error?: string): void;
}

/** A server, as in `Upstream`. */
interface CalledOver {
  /** `host:port`, or `unix:/run/agent.sock`. */
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
}
