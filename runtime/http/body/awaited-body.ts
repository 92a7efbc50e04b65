import type { BodySink, BodySource } from "./body.ts";

/** A body that knows whether its reader waits for its sender. */
export class AwaitedBody implements BodySource, BodySink {
  readonly #source: BodySource;
  #sink: BodySink | undefined;
  #hasEnded = false;
  #isPaused = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** More of it is wanted, and has not come. */
  get isAwaited(): boolean {
    return !this.#hasEnded && !this.#isPaused;
  }

  get length(): number | undefined {
    return this.#source.length;
  }

  get trailers(): readonly string[] | undefined {
    return this.#source.trailers;
  }

  takeWhole(): Buffer | undefined {
    const whole = this.#source.takeWhole?.();
    this.#hasEnded = whole !== undefined;
    return whole;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#source.flow(this);
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
    this.#source.discard();
  }

  onData(chunk: Buffer): void {
    this.#sink?.onData(chunk);
  }

  onEnd(): void {
    this.#hasEnded = true;
    this.#sink?.onEnd();
  }

  onAbort(): void {
    this.#sink?.onAbort();
  }
}
