import type { PartsGuard, TextGuards } from "../chat/texts.ts";

/** Events as a client gets them. */
export type Events = readonly (string | Buffer)[];

/** The end of a part that is not decided, and the events behind it. */
interface WaitingPart {
  /** The event that says more of the part. */
  readonly event: (text: string) => string;
  readonly behind: (() => Events)[];
}

/** The events of one stream of which a text comes in parts: those behind an end that is not decided wait in their order. */
export class PartedEvents {
  readonly #guard: PartsGuard;
  #waiting: WaitingPart[] = [];

  constructor(texts: TextGuards) {
    this.#guard = texts.openParts();
  }

  /** Something waits for what comes. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** A piece of the part that goes on: what goes out before it, and what is decided of the part. */
  push(piece: string): { readonly before: Events; readonly text: string } {
    return this.#given(this.#guard.push(piece));
  }

  /** The part is complete. `event`: says more of it. */
  next(event: WaitingPart["event"]): Events {
    this.#waiting.push({ event, behind: [] });
    return this.#given(this.#guard.next()).before;
  }

  /** Events that stand here; they are made when they go out. */
  behind(make: () => Events): Events {
    const last = this.#waiting.at(-1);
    if (last === undefined) return make();
    last.behind.push(make);
    return [];
  }

  /** Lets go what waits: nobody knows when the text goes on. `event`: says more of the part that goes on. */
  release(event: WaitingPart["event"]): Events {
    return this.#whole(this.#guard.release(), event);
  }

  /** What waits: the text is complete. `event`: says more of the part that goes on. */
  end(event: WaitingPart["event"]): Events {
    return this.#whole(this.#guard.end(), event);
  }

  #whole(given: readonly string[], event: WaitingPart["event"]): Events {
    const { before, text } = this.#given(given);
    return text === "" ? before : [...before, event(text)];
  }

  #given(texts: readonly string[]): { readonly before: Events; readonly text: string } {
    if (texts.length === 1 && this.#waiting.length === 0)
      return { before: none, text: texts[0] ?? "" };
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

const none: Events = [];
