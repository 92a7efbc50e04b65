import type { CountedBuffer } from "./counted-buffer.ts";

/** A message body that is pushed into one sink as it arrives. The sink may pause it. */
export interface BodySource {
  /** Number of bytes, if the sender announced it. */
  readonly length: number | undefined;
  /** Trailers, once the body has ended: a flat list of fields (RFC 9110 6.5); `undefined` if it has none. */
  readonly trailers?: readonly string[] | undefined;
  /** Returns the whole body, instead of a flow, if it has arrived in one piece; otherwise `undefined`. Optional. */
  takeWhole?(): Buffer | undefined;
  /** Starts the flow; may be called once. */
  flow(sink: BodySink): void;
  /** Stops reading from the sender until `resume`. */
  pause(): void;
  resume(): void;
  /** Reads and discards the rest. Can be called more than once. */
  discard(): void;
}

/** Whether a body arrives in pieces, as opposed to a complete or absent one. */
export function isBodySource(body: string | Uint8Array | BodySource | null): body is BodySource {
  return body !== null && typeof body === "object" && "flow" in body;
}

/** Receives the pieces of a body: any number of `onData`, then either `onEnd` or `onAbort`. */
export interface BodySink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The sender left before the body was complete. */
  onAbort(): void;
  /**
   * The receiver to which `onData` immediately passes all pieces, with whether it holds any of their bytes. If absent, they may
   * be held.
   */
  readonly carrier?: { readonly holdsNothing: boolean };
}

/** Sees the pieces of a body while they pass to their receiver. */
export interface BodyObserver {
  /** The bytes may be reused after the call. */
  push(piece: Uint8Array): void;
}

/** Returns a sink that passes everything on and shows each piece to an observer first. */
export function observedSink(sink: BodySink, observer: BodyObserver): BodySink {
  return {
    onData(chunk) {
      observer.push(chunk);
      sink.onData(chunk);
    },
    onEnd: () => sink.onEnd(),
    onAbort: () => sink.onAbort(),
  };
}

/** Why a body could not be read whole. */
export type BodyProblem =
  /** It exceeds the limit. */
  | "too-large"
  /** The process buffers as many bytes as it may (`BufferBudget`). */
  | "no-room"
  /** It arrives too slowly. */
  | "too-slow"
  /** The sender left. */
  | "aborted";

/**
 * Collects a body of at most `limit` bytes. It ends as soon as that is impossible; the rest is read and discarded. The returned
 * function ends it with another problem, unless it has ended.
 */
export function collect(
  body: BodySource,
  limit: number,
  buffer: CountedBuffer,
  done: (result: Buffer | BodyProblem) => void,
): (problem: BodyProblem) => void {
  const collector = new Collector(body, limit, buffer, done);
  if (body.length !== undefined && body.length > limit) collector.fail("too-large");
  else body.flow(collector);
  return (problem) => collector.fail(problem);
}

class Collector implements BodySink {
  readonly #body: BodySource;
  readonly #limit: number;
  readonly #buffer: CountedBuffer;
  readonly #done: (result: Buffer | BodyProblem) => void;
  #isDone = false;

  constructor(
    body: BodySource,
    limit: number,
    buffer: CountedBuffer,
    done: (result: Buffer | BodyProblem) => void,
  ) {
    this.#body = body;
    this.#limit = limit;
    this.#buffer = buffer;
    this.#done = done;
  }

  onData(chunk: Buffer): void {
    if (this.#isDone) return;
    if (this.#buffer.length + chunk.length > this.#limit) this.fail("too-large");
    else if (!this.#buffer.push(chunk)) this.fail("no-room");
    // The parser enforces the announced length, so the end can be handled at once.
    else if (this.#buffer.length === this.#body.length) this.onEnd();
  }

  onEnd(): void {
    if (!this.#isDone) this.#finish(this.#buffer.bytes());
  }

  onAbort(): void {
    if (!this.#isDone) this.#finish("aborted");
  }

  fail(problem: BodyProblem): void {
    if (this.#isDone) return;
    this.#body.discard();
    this.#finish(problem);
  }

  #finish(result: Buffer | BodyProblem): void {
    this.#isDone = true;
    if (typeof result === "string") this.#buffer.release();
    this.#done(result);
  }
}
