import type { BodySink, BodySource } from "../../http/body/body.ts";

/** A body that can be read again from its start, as long as it is no longer than a limit. One reader at a time. */
export class ReplayBody implements BodySink {
  readonly #source: BodySource;
  readonly #limit: number;
  #kept: Buffer[] = [];
  #size = 0;
  #reader: ReplayReader | undefined;
  #state: "new" | "flowing" | "ended" | "aborted" = "new";
  #isReplayable = true;

  /** `limit`: bytes that are kept. */
  constructor(source: BodySource, limit: number) {
    this.#source = source;
    this.#limit = limit;
  }

  /** Whether it can be read once more. */
  get isReplayable(): boolean {
    return this.#isReplayable && this.#state !== "aborted";
  }

  /** A new reader; the one before gets nothing more. */
  read(): BodySource {
    this.#reader = new ReplayReader(this, this.#source.length);
    return this.#reader;
  }

  /** The reader is the last one: nothing need be kept for another. */
  keepNothing(): void {
    this.#isReplayable = false;
    this.#kept = [];
    if (this.#reader?.isDiscarded !== false) this.#source.discard();
  }

  /** A reader begins. */
  flow(reader: ReplayReader, sink: BodySink): void {
    if (reader !== this.#reader) return;
    for (const chunk of this.#kept) sink.onData(chunk);
    if (this.#state === "new") {
      this.#state = "flowing";
      this.#source.flow(this);
    } else if (this.#state === "flowing") this.#source.resume();
    else if (this.#state === "ended") sink.onEnd();
    else sink.onAbort();
  }

  /** A reader wants no more for now, or again, or not at all; an old one has no say. */
  steer(reader: ReplayReader, wish: "pause" | "resume" | "discard"): void {
    if (reader !== this.#reader) return;
    if (wish === "discard" && !this.#isReplayable) this.#source.discard();
    else if (this.#state !== "flowing") return;
    else if (wish === "resume") this.#source.resume();
    else this.#source.pause();
  }

  onData(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      this.#isReplayable = false;
      this.#kept = [];
    } else if (this.#isReplayable) {
      this.#kept.push(chunk);
    }
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
