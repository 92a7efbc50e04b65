import { SseReader } from "../../http/body/sse.ts";
import type { StreamReader } from "../chat/formats.ts";
import type { StreamEvent } from "../chat/stream-event.ts";
import { eventTooLong } from "./broken-stream.ts";

/** Reads the events of one stream of a format. It is not called again after it has returned an `end` or an `error`. */
export interface SseEventReader {
  /** Reads the data of one event. */
  read(data: string): readonly StreamEvent[];
  /** Returns the last events when the provider has closed the stream. */
  close(): readonly StreamEvent[];
}

/** Reads a stream of `text/event-stream`. */
export class SseStreamReader implements StreamReader {
  readonly #events: SseEventReader;
  readonly #frames: SseReader;
  #isOver = false;

  /** `limit`: maximum bytes of one event. */
  constructor(events: SseEventReader, limit: number) {
    this.#events = events;
    this.#frames = new SseReader(limit);
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const frames = this.#frames.push(chunk);
    if (frames === undefined) return this.#checkEnd([eventTooLong]);
    return frames.flatMap(({ data }) =>
      data === undefined || this.#isOver ? [] : this.#checkEnd(this.#events.read(data)),
    );
  }

  end(): readonly StreamEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    return this.#events.close();
  }

  #checkEnd(events: readonly StreamEvent[]): readonly StreamEvent[] {
    const last = events.at(-1)?.kind;
    if (last === "end" || last === "error") this.#isOver = true;
    return events;
  }
}
