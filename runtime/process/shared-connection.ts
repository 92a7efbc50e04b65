/**
 * A connection to a server that calls of all routes share, also across reloads (grpc/node/grpc-connection.ts). It opens when a
 * call needs it, and reopens after it was lost.
 */
export interface SharedConnection {
  /**
   * Starts a call. `head`: flat list of fields, pseudo headers first. Rejects with an Error that says why no connection can be
   * opened.
   */
  start(head: readonly string[], handler: CallHandler): Promise<CallStream>;
  /** Checks whether the server still responds, after a call got no response in time. */
  suspect(): void;
}

/** Receives events of a call; none after `onClose`. */
export interface CallHandler {
  /** Receives the head of the response: `:status` and its fields. `isLast` if the response consists of the head alone. */
  onHead(fields: CallFields, isLast: boolean): void;
  onData(chunk: Buffer): void;
  onTrailers(fields: CallFields): void;
  /** The call is over. `reset`: HTTP/2 error code it ended with, or 0. `error`: why it failed. */
  onClose(reset: number, error: Error | undefined): void;
}

/** Fields of a head or of trailers, by lower-case name. */
export type CallFields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** The sending side of a call. */
export interface CallStream {
  /** Writes bytes. Returns false if the caller should wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Called each time a full buffer was emptied. Only the last listener counts. */
  onDrain(listener: () => void): void;
  /** Ends the request. */
  end(bytes?: Uint8Array): void;
  /** Aborts the call (RST_STREAM, CANCEL). */
  cancel(): void;
  pause(): void;
  resume(): void;
}
