import type { PartsGuard, TextGuards } from "../chat/texts.ts";

/** Events for the client. */
export type Events = readonly (string | Buffer)[];

/** The undecided end of a part, and the events after it. */
interface WaitingPart {
  /** Creates the event that continues the part. */
  readonly event: (text: string) => string;
  readonly behind: (() => Events)[];
}

/** Events of one stream with a text in parts. Events after an undecided end wait in order. */
export class PartedEvents {
  readonly #guard: PartsGuard;
  #waiting: WaitingPart[] = [];

  constructor(texts: TextGuards) {
    this.#guard = texts.openParts();
  }

  /** Whether something waits. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Guards a piece of the current part. Returns the events that precede it, and the decided text of the part. */
  push(piece: string): { readonly before: Events; readonly text: string } {
    return this.#given(this.#guard.push(piece));
  }

  /** Ends the current part. `event` creates the event that continues it. */
  next(event: WaitingPart["event"]): Events {
    this.#waiting.push({ event, behind: [] });
    return this.#given(this.#guard.next()).before;
  }

  /** Adds events at this position; they are created when they are sent. */
  behind(make: () => Events): Events {
    const last = this.#waiting.at(-1);
    if (last === undefined) return make();
    last.behind.push(make);
    return [];
  }

  /**
   * Releases what waits, because the text may not continue soon. `event` creates the event that continues the current part.
   */
  release(event: WaitingPart["event"]): Events {
    return this.#whole(this.#guard.release(), event);
  }

  /** Returns what waits at the end of the text. `event` creates the event that continues the current part. */
  end(event: WaitingPart["event"]): Events {
    return this.#whole(this.#guard.end(), event);
  }

  #whole(given: readonly string[], event: WaitingPart["event"]): Events {
    const { before, text } = this.#given(given);
    return text === "" ? before : [...before, event(text)];
  }

  #given(texts: readonly string[]): { readonly before: Events; readonly text: string } {
    if (texts.length === 1 && this.#waiting.length === 0)
      return { before: NO_EVENTS, text: texts[0] ?? "" };
    const before: (string | Buffer)[] = [];
    for (const [index, text] of texts.entries()) {
      const isLast = index === texts.length - 1;
      const part = this.#waiting[0];
      if (part === undefined) return { before, text };
      if (text !== "") before.push(part.event(text));
      if (isLast) break;
      this.#waiting.shift();
      before.push(...part.behind.flatMap((make) => make()));
    }
    return { before, text: "" };
  }
}

const NO_EVENTS: Events = [];
