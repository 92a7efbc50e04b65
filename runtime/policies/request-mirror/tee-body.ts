import type { BodySink, BodySource } from "../../http/body/body.ts";
import { PassedBody } from "../../http/body/passed-body.ts";
import type { BufferBudget } from "../../process/buffer-budget.ts";

/** Maximum number of bytes that a copy may lag behind before it is aborted. */
const MAX_BEHIND = 262_144;

/** A body with two readers. The first one sets the pace; the copy is aborted if it lags too far behind. */
export class TeeBody extends PassedBody {
  readonly copy: BodyCopy;

  /** The buffered bytes of the copy count against `budget`. */
  constructor(source: BodySource, budget: BufferBudget) {
    super(source);
    this.copy = new BodyCopy(source, budget);
  }

  override discard(): void {
    super.discard();
    this.copy.onAbort();
  }

  override onData(chunk: Buffer): void {
    this.copy.onData(chunk);
    super.onData(chunk);
  }

  override onEnd(): void {
    this.copy.onEnd();
    super.onEnd();
  }

  override onAbort(): void {
    this.copy.onAbort();
    super.onAbort();
  }
}

/** The body for the second reader. */
class BodyCopy implements BodySource, BodySink {
  readonly length: number | undefined;
  readonly #source: BodySource;
  readonly #budget: BufferBudget;
  #waiting: Buffer[] = [];
  #size = 0;
  #sink: BodySink | undefined;
  #isPaused = false;
  #state: "open" | "ended" | "aborted" | "done" = "open";

  constructor(source: BodySource, budget: BufferBudget) {
    this.length = source.length;
    this.#source = source;
    this.#budget = budget;
  }

  get trailers(): readonly string[] | undefined {
    return this.#source.trailers;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#pass();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pass();
  }

  discard(): void {
    this.#state = "done";
    this.#forget();
    this.#sink = undefined;
  }

  onData(chunk: Buffer): void {
    if (this.#state !== "open") return;
    if (!this.#budget.take(chunk.length)) {
      this.onAbort();
      return;
    }
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    this.#pass();
    if (this.#size > MAX_BEHIND) this.onAbort();
  }

  onEnd(): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.#pass();
  }

  onAbort(): void {
    if (this.#state !== "open") return;
    this.#state = "aborted";
    this.#forget();
    this.#pass();
  }

  #forget(): void {
    this.#budget.give(this.#size);
    this.#waiting = [];
    this.#size = 0;
  }

  #pass(): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    while (!this.#isPaused) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) break;
      this.#size -= chunk.length;
      this.#budget.give(chunk.length);
      sink.onData(chunk);
    }
    if (this.#waiting.length > 0 || this.#state === "open" || this.#state === "done") return;
    const { onEnd, onAbort } = sink;
    const end = this.#state === "ended" ? onEnd : onAbort;
    this.#state = "done";
    end.call(sink);
  }
}
