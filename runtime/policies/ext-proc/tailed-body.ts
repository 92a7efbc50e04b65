import type { BodySink, BodySource } from "../../http/body/body.ts";

/** Who says what becomes of the end of a body. */
export interface BodyTail {
  /** All of it has gone on: `pass` or `breakOff` follows. */
  ended(): void;
  /** Nobody wants the rest. */
  discarded(): void;
}

/** A body that goes on as it comes, and whose end waits for what a processor says of the trailers. */
export class TailedBody implements BodySource, BodySink {
  readonly length = undefined;
  readonly #source: BodySource;
  readonly #tail: BodyTail;
  #sink: BodySink | undefined;
  #trailers: readonly string[] | undefined;

  constructor(source: BodySource, tail: BodyTail) {
    this.#source = source;
    this.#tail = tail;
  }

  get trailers(): readonly string[] | undefined {
    return this.#trailers ?? this.#source.trailers;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#source.flow(this);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  discard(): void {
    if (this.#sink !== undefined) this.#tail.discarded();
    this.#sink = undefined;
    this.#source.discard();
  }

  onData(chunk: Buffer): void {
    this.#sink?.onData(chunk);
  }

  onEnd(): void {
    this.#tail.ended();
  }

  onAbort(): void {
    this.breakOff();
  }

  /** It ends, with these trailers in the place of its own where there are any. */
  pass(trailers?: readonly string[]): void {
    this.#trailers = trailers;
    this.#end()?.onEnd();
  }

  /** It never ends. */
  breakOff(): void {
    this.#end()?.onAbort();
  }

  #end(): BodySink | undefined {
    const sink = this.#sink;
    this.#sink = undefined;
    return sink;
  }
}
