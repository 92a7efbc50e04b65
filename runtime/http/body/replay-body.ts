import type { BodySink, BodySource } from "./body.ts";
import type { CountedBuffer } from "./counted-buffer.ts";

/** A body that can be read repeatedly from its start, up to a size limit. One reader at a time. */
export class ReplayBody implements BodySink {
  readonly #source: BodySource;
  readonly #limit: number;
  readonly #kept: CountedBuffer;
  #reader: ReplayReader | undefined;
  #state: "new" | "flowing" | "ended" | "aborted" = "new";
  #isReplayable = true;

  /** `limit`: maximum bytes that are kept, in `kept`. */
  constructor(source: BodySource, limit: number, kept: CountedBuffer) {
    this.#source = source;
    this.#limit = limit;
    this.#kept = kept;
  }

  /** Whether it can be read once more. */
  get isReplayable(): boolean {
    return this.#isReplayable && this.#state !== "aborted";
  }

  get trailers(): readonly string[] | undefined {
    return this.#source.trailers;
  }

  /** Returns a new reader; the previous one gets nothing more. */
  read(): BodySource {
    this.#reader = new ReplayReader(this, this.#source.length);
    return this.#reader;
  }

  /** Declares the current reader the last one, so that nothing is kept for another. */
  keepNothing(): void {
    this.#isReplayable = false;
    this.#kept.release();
    if (this.#reader?.isDiscarded !== false) this.#source.discard();
  }

  /** Starts a reader. */
  flow(reader: ReplayReader, sink: BodySink): void {
    if (reader !== this.#reader) return;
    if (this.#kept.length > 0) sink.onData(this.#kept.bytes());
    if (this.#state === "new") {
      this.#state = "flowing";
      this.#source.flow(this);
    } else if (this.#state === "flowing") this.#source.resume();
    else if (this.#state === "ended") sink.onEnd();
    else sink.onAbort();
  }

  /** Pauses, resumes or ends a reader; calls of earlier readers are ignored. */
  steer(reader: ReplayReader, wish: "pause" | "resume" | "discard"): void {
    if (reader !== this.#reader) return;
    if (wish === "discard" && !this.#isReplayable) this.#source.discard();
    else if (this.#state !== "flowing") return;
    else if (wish === "resume") this.#source.resume();
    else this.#source.pause();
  }

  onData(chunk: Buffer): void {
    if (this.#isReplayable) this.#keep(chunk);
    this.#reader?.sink?.onData(chunk);
  }

  onEnd(): void {
    this.#state = "ended";
    this.#reader?.sink?.onEnd();
  }

  onAbort(): void {
    this.#state = "aborted";
    this.#reader?.sink?.onAbort();
  }

  #keep(chunk: Buffer): void {
    const isShort = this.#kept.length + chunk.length <= this.#limit;
    this.#isReplayable = isShort && this.#kept.push(chunk);
    if (!this.#isReplayable) this.#kept.release();
  }
}

/** The body for one attempt. */
class ReplayReader implements BodySource {
  readonly length: number | undefined;
  readonly #body: ReplayBody;
  sink: BodySink | undefined;
  isDiscarded = false;

  constructor(body: ReplayBody, length: number | undefined) {
    this.#body = body;
    this.length = length;
  }

  get trailers(): readonly string[] | undefined {
    return this.#body.trailers;
  }

  flow(sink: BodySink): void {
    this.sink = sink;
    this.#body.flow(this, sink);
  }

  pause(): void {
    this.#body.steer(this, "pause");
  }

  resume(): void {
    this.#body.steer(this, "resume");
  }

  discard(): void {
    this.sink = undefined;
    this.isDiscarded = true;
    this.#body.steer(this, "discard");
  }
}
