import type { BodySink, BodySource } from "../../http/body/body.ts";

/** Controls the source of a body. */
export interface BodyFlow {
  pause(): void;
  resume(): void;
  /** The rest of the body is not needed. */
  discard(): void;
}

/** A body that arrives in pieces from a processor. A limited number of pieces is buffered until the body is read. */
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

  /** Ends the body: completely with trailers, or aborted. */
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

/** Maximum number of bytes that are buffered before the processor is paused. */
const MAX_HELD = 65_536;
