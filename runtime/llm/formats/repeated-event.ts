import type { PieceGuard } from "../chat/texts.ts";

/** The only text of an event, which the next event continues. */
export interface RepeatedText {
  readonly event: RepeatedEvent;
  readonly guard: Pick<PieceGuard, "push">;
}

/**
 * Returns the client's output for an event that differs from the previous one only in its text; `undefined` if it may differ
 * in more.
 */
export function repeatedText(
  { event: repeated, guard }: RepeatedText,
  bytes: Buffer,
  event: string,
): readonly (string | Buffer)[] | undefined {
  const piece = repeated.textOf(event);
  if (piece === undefined) return undefined;
  const given = guard.push(piece);
  if (given === piece && !repeated.hasPadding) return [bytes];
  return given === "" ? [] : [repeated.withText(event, piece, given)];
}

/**
 * Template of a stream's events, apart from one text. Most events equal the previous one, so that their JSON need not be
 * parsed and written.
 */
export class RepeatedEvent {
  /** Start of the event, including the opening quote of the text. */
  readonly #head: string;
  /**
   * Rest from the closing quote of the text to the padding that hides the text's length; to the end of the event if it has
   * no padding.
   */
  readonly #tail: string;
  /** Part after the padding; `undefined` if there is no padding. */
  readonly #end: string | undefined;

  private constructor(head: string, rest: string) {
    this.#head = head;
    const padding = rest.indexOf(PADDING_KEY);
    const from = padding + PADDING_KEY.length;
    this.#tail = padding === -1 ? rest : rest.slice(0, from);
    this.#end = padding === -1 ? undefined : rest.slice(rest.indexOf('"', from));
  }

  /** `event`: a parsed event with a text at `key`. Returns `undefined` if the position of that text is ambiguous. */
  static of(event: string, key: string): RepeatedEvent | undefined {
    const name = `"${key}"`;
    const at = event.indexOf(name);
    // With an escape in the event, a key may be part of a text.
    if (event.includes("\\") || event.indexOf(name, at + 1) !== -1) return undefined;
    if (!event.startsWith(':"', at + name.length)) return undefined;
    const from = at + name.length + 2;
    return new RepeatedEvent(event.slice(0, from), event.slice(event.indexOf('"', from)));
  }

  /** Returns the text of an event that differs only in it; `undefined` if it may differ in more. */
  textOf(event: string): string | undefined {
    const to = this.#endOfText(event);
    if (to === undefined) return undefined;
    const text = event.slice(this.#head.length, to);
    return PLAIN.test(text) ? text : undefined;
  }

  /** Whether an event differs only in its text. */
  matches(event: string): boolean {
    return this.#endOfText(event) !== undefined;
  }

  /** Returns the event with another text, and with meaningless padding. */
  withText(event: string, own: string, text: string): string {
    const json = text === own || PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
    const from = this.#head.length + own.length;
    if (this.#end === undefined) return this.#head + json + event.slice(from);
    const length = event.length - this.#end.length - from - this.#tail.length;
    return this.#head + json + this.#tail + paddingOf(length) + this.#end;
  }

  /** Whether it has padding. No guard reads that, so it is replaced with padding of the same length. */
  get hasPadding(): boolean {
    return this.#end !== undefined;
  }

  /** Returns the end of the text of an event that differs only in it. */
  #endOfText(event: string): number | undefined {
    const from = this.#head.length;
    // Engines compare whole strings by machine words, but prefixes by characters.
    if (event.slice(0, from) !== this.#head) return undefined;
    const to = event.indexOf('"', from);
    const end = to + this.#tail.length;
    const isSame = event.slice(to, end) === this.#tail && this.#endsAt(event, end);
    return isSame ? to : undefined;
  }

  #endsAt(event: string, at: number): boolean {
    if (this.#end === undefined) return at === event.length;
    const to = event.indexOf('"', at);
    return event.slice(to) === this.#end && PLAIN.test(`${event.slice(at, to)}-`);
  }
}

/** Returns meaningless padding of a length. */
export function paddingOf(length: number): string {
  return "x".repeat(length);
}

/** OpenAI pads events so that their length does not reveal that of their text. */
const PADDING_KEY = '"obfuscation":"';

/** A non-empty text that needs no escapes in JSON. */
const PLAIN = /^[^"\\\u0000-\u001f]+$/;
