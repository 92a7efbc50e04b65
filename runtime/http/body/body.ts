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

/**
 * Collects a body of at most `limit` bytes. `"too-large"` as soon as it is known to be longer: the rest is thrown away
 * as it comes. `"aborted"` when the sender left.
 */
export function collect(
  body: BodySource,
  limit: number,
  done: (result: Buffer | "too-large" | "aborted") => void,
): void {
  if (body.length !== undefined && body.length > limit) {
    body.discard();
    done("too-large");
    return;
  }
  body.flow(new Collector(body, limit, done));
}

class Collector implements BodySink {
  readonly #body: BodySource;
  readonly #limit: number;
  readonly #done: (result: Buffer | "too-large" | "aborted") => void;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #isDone = false;

  constructor(
    body: BodySource,
    limit: number,
    done: (result: Buffer | "too-large" | "aborted") => void,
  ) {
    this.#body = body;
    this.#limit = limit;
    this.#done = done;
  }

  onData(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      this.#body.discard();
      this.#finish("too-large");
      return;
    }
    this.#chunks.push(chunk);
    // The announced length is enforced by the parser: the end needs no waiting for.
    if (this.#size === this.#body.length) this.onEnd();
  }

  onEnd(): void {
    const [only] = this.#chunks;
    const isOne = this.#chunks.length === 1 && only !== undefined;
    this.#finish(isOne ? only : Buffer.concat(this.#chunks, this.#size));
  }

  onAbort(): void {
    this.#finish("aborted");
  }

  #finish(result: Buffer | "too-large" | "aborted"): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#done(result);
  }
}
