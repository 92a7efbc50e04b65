import { SseReader } from "../../http/body/sse.ts";
import type { StreamReader } from "../chat/formats.ts";
import type { StreamEvent } from "../chat/stream-event.ts";
import { eventTooLong } from "./broken-stream.ts";

/** Reads the events of one stream of a format; nothing is asked of it after an `end` or an `error` that it gave. */
export interface SseEventReader {
  /** What the data of one event says. */
  read(data: string): readonly StreamEvent[];
  /** The provider has closed the stream: what is left to say. */
  close(): readonly StreamEvent[];
}

/** The stream of a format whose events are those of `text/event-stream`. */
export class SseStreamReader implements StreamReader {
  readonly #events: SseEventReader;
  readonly #frames: SseReader;
  #isOver = false;

  /** `limit`: the most bytes of one event. */
  constructor(events: SseEventReader, limit: number) {
    this.#events = events;
    this.#frames = new SseReader(limit);
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const frames = this.#frames.push(chunk);
    if (frames === undefined) return this.#said([eventTooLong]);
    return frames.flatMap(({ data }) =>
      data === undefined || this.#isOver ? [] : this.#said(this.#events.read(data)),
    );
  }

  end(): readonly StreamEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    return this.#events.close();
  }

  #said(events: readonly StreamEvent[]): readonly StreamEvent[] {
    const last = events.at(-1)?.kind;
    if (last === "end" || last === "error") this.#isOver = true;
    return events;
  }
}
