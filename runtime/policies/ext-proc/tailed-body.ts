import type { BodySink, BodySource } from "../../http/body/body.ts";
import { PassedBody } from "../../http/body/passed-body.ts";

/** Who says what becomes of the end of a body. */
export interface BodyTail {
  /** All of it has gone on: `pass` or `breakOff` follows. */
  ended(): void;
  /** Nobody wants the rest. */
  discarded(): void;
}

/** A body that goes on as it comes, and whose end waits for what a processor says of the trailers. */
export class TailedBody extends PassedBody {
  readonly #tail: BodyTail;
  #trailers: readonly string[] | undefined;

  constructor(source: BodySource, tail: BodyTail) {
    super(source);
    this.#tail = tail;
  }

  override get length(): undefined {
    return undefined;
  }

  override get trailers(): readonly string[] | undefined {
    return this.#trailers ?? super.trailers;
  }

  override discard(): void {
    if (this.sink !== undefined) this.#tail.discarded();
    this.sink = undefined;
    super.discard();
  }

  override onEnd(): void {
    this.#tail.ended();
  }

  override onAbort(): void {
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
    const { sink } = this;
    this.sink = undefined;
    return sink;
  }
}
