import { RepeatedEvent } from "../repeated-event.ts";

/**
 * Template of a stream's events, apart from their number and a text after it: OpenAI numbers events, and writes the number
 * first.
 */
export class NumberedEvent {
  /** Part up to the number. */
  readonly #head: string;
  /** Part after it. */
  readonly #rest: RepeatedEvent;

  private constructor(head: string, rest: RepeatedEvent) {
    this.#head = head;
    this.#rest = rest;
  }

  /**
   * `event`: a parsed event with a text at `key`. Returns `undefined` if the position of that text or of the number is
   * ambiguous.
   */
  static of(event: string, key: string): NumberedEvent | undefined {
    const from = event.indexOf(NUMBER_KEY) + NUMBER_KEY.length;
    const head = event.slice(0, from);
    const to = endOfNumber(event, from);
    // With an escape in the event, a key may be part of a text.
    const isSure = from >= NUMBER_KEY.length && to > from && event.charCodeAt(to) === COMMA;
    if (!isSure || head.includes("\\") || event.indexOf(NUMBER_KEY, to) !== -1) return undefined;
    const rest = RepeatedEvent.of(event.slice(to), key);
    return rest && new NumberedEvent(head, rest);
  }

  /** Returns the text of an event that differs only in it and in its number; `undefined` if it may differ in more. */
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

  /** Whether it has padding. */
  get hasPadding(): boolean {
    return this.#rest.hasPadding;
  }

  /** Returns the event with another number, and another text instead of `own`. */
  withText(event: string, own: string, text: string, number: number): string {
    const rest = event.slice(endOfNumber(event, this.#head.length));
    return `${this.#head}${number}${this.#rest.withText(rest, own, text)}`;
  }
}

const NUMBER_KEY = '"sequence_number":';
const COMMA = 0x2c;

/** Returns the position after the last digit. */
function endOfNumber(event: string, from: number): number {
  let to = from;
  while (event.charCodeAt(to) >= 0x30 && event.charCodeAt(to) <= 0x39) to += 1;
  return to;
}
