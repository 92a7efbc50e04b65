import type { PolicyStreams } from "../../policy/policy.ts";
import { DeadlineExceeded } from "./custom-policy.ts";

/** Receives a body that has passed the streams of a hook. */
export interface StreamTarget {
  /** Returns false if it takes no more until `HookStreams.proceed` is called. */
  write(bytes: Uint8Array): boolean;
  /** Called once, after the last piece. */
  end(trailers: readonly string[] | undefined): void;
  /** Called if the streams fail; nothing follows. */
  fail(error: unknown): void;
  /** Called each time more can be written after `HookStreams.write` returned false. */
  onDrain(): void;
}

/**
 * The streams through which a hook passes the body of one response. They fail if they take longer than `deadline` milliseconds
 * for a piece, unless they wait for the client.
 */
export class HookStreams {
  readonly #target: StreamTarget;
  readonly #deadline: number;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #trailers: readonly string[] | undefined;
  #isOver = false;
  /** Pieces that the hook has not finished with, and when it last finished with one or returned one. */
  #pending = 0;
  #progress = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Continues reading from the hook once the client takes more. */
  #proceed: (() => void) | undefined;

  /** Throws if a stream is in use. */
  constructor({ writable, readable }: PolicyStreams, deadline: number, target: StreamTarget) {
    this.#target = target;
    this.#deadline = deadline;
    this.#writer = writable.getWriter();
    this.#reader = readable.getReader();
    // A stream that fails shows when it is read.
    this.#writer.closed.catch(() => {});
    this.#reader.closed.catch(() => {});
  }

  /** Passes pieces on. Resolves after the last one, or after a failure. */
  run(): Promise<void> {
    return this.#forward().catch((error: unknown) => this.#fail(error));
  }

  write(chunk: string | Uint8Array): boolean {
    const writer = this.#writer;
    // Copied: the bytes of a connection are only valid during the call.
    this.#watch(writer.write(new Uint8Array(Buffer.from(chunk))));
    if ((writer.desiredSize ?? 1) > 0) return true;
    writer.ready.then(() => this.#target.onDrain()).catch(() => {});
    return false;
  }

  end(trailers: readonly string[] | undefined): void {
    this.#trailers = trailers;
    this.#watch(this.#writer.close());
  }

  /** Continues after the target took no more. */
  proceed(): void {
    this.#proceed?.();
  }

  /** Drops what the streams still return. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#proceed?.();
    this.#writer.abort().catch(() => {});
    this.#reader.cancel().catch(() => {});
  }

  async #forward(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      this.#progress = performance.now();
      if (this.#isOver) return;
      if (done) break;
      if (!(value instanceof Uint8Array))
        throw new TypeError("the stream of responseStream has something other than bytes");
      // Copied: the policy may use the bytes again.
      if (!this.#target.write(Buffer.from(value))) await this.#drained();
    }
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#target.end(this.#trailers);
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const proceed = () => {
        this.#proceed = undefined;
        this.#progress = performance.now();
        resolve();
      };
      this.#proceed = proceed;
    });
  }

  /** Limits the time of a step of the hook. */
  #watch(step: Promise<void>): void {
    this.#pending += 1;
    if (this.#pending === 1) this.#progress = performance.now();
    const finished = () => {
      this.#pending -= 1;
      this.#progress = performance.now();
    };
    step.then(finished, finished);
    this.#timer ??= setTimeout(() => this.#check(), this.#deadline);
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#pending === 0 || this.#isOver) return;
    const waited = this.#proceed === undefined ? performance.now() - this.#progress : 0;
    if (waited >= this.#deadline)
      this.#fail(new DeadlineExceeded(`took longer than ${this.#deadline} ms for a piece`));
    else this.#timer = setTimeout(() => this.#check(), Math.ceil(this.#deadline - waited));
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.cancel();
    this.#target.fail(error);
  }
}
