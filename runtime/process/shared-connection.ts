/**
 * A connection to a server that calls of all routes share, also those of the configuration after this one
 * (grpc/node/grpc-connection.ts). It opens itself when a call needs it, and again after it broke.
 */
export interface SharedConnection {
  /**
   * Starts a call whose head is this flat list of fields, pseudo headers first. Rejects with an Error that says why when
   * there is no connection to be had.
   */
  start(head: readonly string[], handler: CallHandler): Promise<CallStream>;
  /** A call got no response in its time: whether anybody is at the other end is found out. */
  suspect(): void;
}

/** What a call hears of the server; nothing after `onClose`. */
export interface CallHandler {
  /** The head of the response: `:status` and its fields. A response of one head is `isLast`. */
  onHead(fields: CallFields, isLast: boolean): void;
  onData(chunk: Buffer): void;
  onTrailers(fields: CallFields): void;
  /** The call is over. `reset`: the HTTP/2 error code it ended with; 0: none. `error`: what broke it. */
  onClose(reset: number, error: Error | undefined): void;
}

/** Fields of a head or of trailers by lower-case name. */
export type CallFields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** The way to the server of a call. */
export interface CallStream {
  /** False: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Called each time a full buffer was emptied. One listener; the last one set counts. */
  onDrain(listener: () => void): void;
  /** Nothing more is sent. */
  end(bytes?: Uint8Array): void;
  /** Breaks the call off (RST_STREAM, CANCEL). */
  cancel(): void;
  pause(): void;
  resume(): void;
}
