import type { BodySink, BodySource } from "../../http/body/body.ts";

/** Who stops and lets go on what fills a body. */
export interface BodyFlow {
  pause(): void;
  resume(): void;
  /** Nobody wants it any more. */
  discard(): void;
}

/** A body that comes piece by piece from a processor. Pieces that nobody takes yet are held, a few of them. */
export class ProcessedBody implements BodySource {
  readonly length = undefined;
  readonly #flow: BodyFlow;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #end: "onEnd" | "onAbort" | undefined;
  #sink: BodySink | undefined;
  trailers: readonly string[] | undefined;

  constructor(flow: BodyFlow) {
    this.#flow = flow;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#sink !== undefined) {
      this.#sink.onData(piece);
      return;
    }
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > MAX_HELD) this.#flow.pause();
  }

  /** No more comes: it is whole, with these trailers behind it, or it will never be. */
  finish(end: "onEnd" | "onAbort", trailers?: readonly string[]): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.trailers = trailers;
    this.#sink?.[end]();
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    for (const piece of this.#held) sink.onData(piece);
    this.#held = [];
    if (this.#end !== undefined) sink[this.#end]();
    else if (this.#heldBytes > MAX_HELD) this.#flow.resume();
  }

  pause(): void {
    this.#flow.pause();
  }

  resume(): void {
    this.#flow.resume();
  }

  discard(): void {
    if (this.#end === undefined) this.#flow.discard();
    this.#end ??= "onEnd";
  }
}

/** Bytes of pieces that wait for the backend before the processor is stopped. */
const MAX_HELD = 65_536;
