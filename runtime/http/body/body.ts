import type { CountedBuffer } from "./counted-buffer.ts";

/** A message body as it arrives: it is pushed into one sink, which may pause it. */
export interface BodySource {
  /** The bytes it will have, when the sender announced them. */
  readonly length: number | undefined;
  /** What stands behind it, once it has ended: a flat list of fields (RFC 9110 6.5); undefined: nothing. */
  readonly trailers?: readonly string[] | undefined;
  /** All of it, in the place of a flow, where it has come in one piece already; undefined: it is to flow. Absent: the same. */
  takeWhole?(): Buffer | undefined;
  /** Starts the flow; once. */
  flow(sink: BodySink): void;
  /** Stops reading from the sender until `resume`. */
  pause(): void;
  resume(): void;
  /** Nobody wants the rest: it is read and thrown away. Safe to call again. */
  discard(): void;
}

/** Whether a body is still to come, in pieces: it is there whole else, or there is none. */
export function isBodySource(body: string | Uint8Array | BodySource | null): body is BodySource {
  return body !== null && typeof body === "object" && "flow" in body;
}

/** Takes the pieces of a body: any number of `onData`, then one of `onEnd` and `onAbort`. */
export interface BodySink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The sender left before the body was complete. */
  onAbort(): void;
  /** Whoever `onData` passes the pieces on to, all of them and at once: whether it holds bytes of them. Absent: they may be held. */
  readonly carrier?: { readonly holdsNothing: boolean };
}

/** Why a body could not be read whole. */
export type BodyProblem =
  /** It is longer than it may be. */
  | "too-large"
  /** The process holds as many bytes as it may (`BufferBudget`). */
  | "no-room"
  /** It comes more slowly than it may. */
  | "too-slow"
  /** The sender left. */
  | "aborted";

/**
 * Gathers a body of at most `limit` bytes. It ends at once with what makes it impossible: the rest is thrown away as it
 * comes. The function that is returned ends it with another problem, unless it is over.
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
    // The announced length is enforced by the parser: the end needs no waiting for.
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
