import type { BodySink, BodySource } from "../../http/body/body.ts";
import { PassedBody } from "../../http/body/passed-body.ts";

/** Decides about the end of a body. */
export interface BodyTail {
  /** The body was forwarded; `pass` or `abort` must follow. */
  ended(): void;
  /** The rest of the body is not needed. */
  discarded(): void;
}

/** A body that is forwarded as it arrives; its end waits for the processor's response to the trailers. */
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
    this.abort();
  }

  /** Ends the body; `trailers` replace its own. */
  pass(trailers?: readonly string[]): void {
    this.#trailers = trailers;
    this.#end()?.onEnd();
  }

  /** Aborts the body. */
  abort(): void {
    this.#end()?.onAbort();
  }

  #end(): BodySink | undefined {
    const { sink } = this;
    this.sink = undefined;
    return sink;
  }
}
