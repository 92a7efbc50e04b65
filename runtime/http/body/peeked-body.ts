import type { BodySink, BodySource } from "./body.ts";
import type { CountedBuffer } from "./counted-buffer.ts";

/** A body whose beginning can be inspected before it flows on. */
export class PeekedBody implements BodySource {
  length: number | undefined;
  readonly #source: BodySource;
  #beginning: Buffer | undefined;
  #hasEnded = false;
  #hasAborted = false;
  #isPaused = false;
  #sink: BodySink | undefined;
  #onPiece: ((piece: Buffer) => void) | undefined;
  #onStop: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
    this.length = source.length;
  }

  get trailers(): readonly string[] | undefined {
    return this.#source.trailers;
  }

  /**
   * Returns the beginning: more than `limit` bytes if there are more. Resolves with `undefined` if the sender left or the
   * budget is exhausted.
   */
  peek(limit: number, buffer: CountedBuffer): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const stop = () => {
        this.#onPiece = undefined;
        this.#onStop = undefined;
        this.#source.pause();
        this.#beginning = this.#hasAborted ? undefined : buffer.bytes();
        resolve(this.#beginning);
      };
      this.#onStop = stop;
      const take = (piece: Buffer) => {
        if (!buffer.push(piece)) this.#hasAborted = true;
        if (this.#hasAborted || buffer.length > limit) stop();
      };
      this.#onPiece = take;
      this.#source.flow({
        onData: (piece) => (this.#onPiece ?? ((each) => this.#sink?.onData(each)))(piece),
        onEnd: () => {
          this.#hasEnded = true;
          this.#onStop?.();
          this.#sink?.onEnd();
        },
        onAbort: () => {
          this.#hasAborted = true;
          this.#onStop?.();
          this.#sink?.onAbort();
        },
      });
    });
  }

  /** Replaces the beginning. */
  replace(beginning: Buffer): void {
    const before = this.#beginning?.length ?? 0;
    if (this.length !== undefined) this.length += beginning.length - before;
    this.#beginning = beginning;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    const beginning = this.#beginning;
    this.#beginning = undefined;
    if (beginning !== undefined && beginning.length > 0) sink.onData(beginning);
    if (this.#hasEnded) sink.onEnd();
    else if (this.#hasAborted) sink.onAbort();
    else if (!this.#isPaused) this.#source.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.#source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.resume();
  }

  discard(): void {
    this.#sink = undefined;
    this.#source.discard();
  }
}
