import { RepeatedEvent } from "../repeated-event.ts";

/** What an event of a stream is but for its number and one text that stands behind it: OpenAI numbers events, and writes that first. */
export class NumberedEvent {
  /** Up to the number. */
  readonly #head: string;
  /** From behind it. */
  readonly #rest: RepeatedEvent;

  private constructor(head: string, rest: RepeatedEvent) {
    this.#head = head;
    this.#rest = rest;
  }

  /** `event`: one that was read, with a text at a key; undefined: where in it that text and the number stand is not sure. */
  static of(event: string, key: string): NumberedEvent | undefined {
    const from = event.indexOf(NUMBER_KEY) + NUMBER_KEY.length;
    const head = event.slice(0, from);
    const to = endOfNumber(event, from);
    // With an escape in it a key may be part of a text.
    const isSure = from >= NUMBER_KEY.length && to > from && event.charCodeAt(to) === COMMA;
    if (!isSure || head.includes("\\") || event.indexOf(NUMBER_KEY, to) !== -1) return undefined;
    const rest = RepeatedEvent.of(event.slice(to), key);
    return rest && new NumberedEvent(head, rest);
  }

  /** The text of an event that differs in it and in its number alone; undefined: it may differ in more. */
  textOf(event: string): string | undefined {
    if (!event.startsWith(this.#head)) return undefined;
    const to = endOfNumber(event, this.#head.length);
    return to === this.#head.length ? undefined : this.#rest.textOf(event.slice(to));
  }

  /** Whether an event has this number. */
  isNumber(event: string, number: number): boolean {
    const written = String(number);
    const at = this.#head.length;
    return event.startsWith(written, at) && endOfNumber(event, at) === at + written.length;
  }

  /** It has a filling, which nobody reads. */
  get hasFilling(): boolean {
    return this.#rest.hasFilling;
  }

  /** The event with a number of its own, and another text in the place of `own`. */
  withText(event: string, own: string, text: string, number: number): string {
    const rest = event.slice(endOfNumber(event, this.#head.length));
    return `${this.#head}${number}${this.#rest.withText(rest, own, text)}`;
  }
}

const NUMBER_KEY = '"sequence_number":';
const COMMA = 0x2c;

/** Behind the last digit. */
function endOfNumber(event: string, from: number): number {
  let to = from;
  while (event.charCodeAt(to) >= 0x30 && event.charCodeAt(to) <= 0x39) to += 1;
  return to;
}
