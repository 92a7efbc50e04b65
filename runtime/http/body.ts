/** A message body as it arrives: it is pushed into one sink, which may pause it. */
export interface BodySource {
  /** The bytes it will have, when the sender announced them. */
  readonly length: number | undefined;
  /** Starts the flow; once. */
  flow(sink: BodySink): void;
  /** Stops reading from the sender until `resume`. */
  pause(): void;
  resume(): void;
  /** Nobody wants the rest: it is read and thrown away. Safe to call again. */
  discard(): void;
}

/** Takes the pieces of a body: any number of `onData`, then one of `onEnd` and `onAbort`. */
export interface BodySink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The sender left before the body was complete. */
  onAbort(): void;
}
