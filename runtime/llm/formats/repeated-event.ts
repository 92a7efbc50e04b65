import type { PieceGuard } from "../chat/texts.ts";

/** The only text of an event, which goes on in the next one. */
export interface RepeatedText {
  readonly event: RepeatedEvent;
  readonly guard: Pick<PieceGuard, "push">;
}

/** What the client gets for an event that differs from the one before in its text alone; undefined: it may differ in more. */
export function repeatedText(
  { event: repeated, guard }: RepeatedText,
  bytes: Buffer,
  event: string,
): readonly (string | Buffer)[] | undefined {
  const piece = repeated.textOf(event);
  if (piece === undefined) return undefined;
  const given = guard.push(piece);
  if (given === piece && !repeated.hasFilling) return [bytes];
  return given === "" ? [] : [repeated.withText(event, piece, given)];
}

/**
 * What an event of a stream is but for one text: most events are like the one before, and their JSON needs neither to be
 * read nor to be written.
 */
export class RepeatedEvent {
  /** Up to the text, its opening quote included. */
  readonly #head: string;
  /** From its closing quote to the filling that hides how long the text is; to the end where there is none. */
  readonly #tail: string;
  /** What comes behind the filling; undefined: there is none. */
  readonly #end: string | undefined;

  private constructor(head: string, rest: string) {
    this.#head = head;
    const filling = rest.indexOf(FILLING_KEY);
    const from = filling + FILLING_KEY.length;
    this.#tail = filling === -1 ? rest : rest.slice(0, from);
    this.#end = filling === -1 ? undefined : rest.slice(rest.indexOf('"', from));
  }

  /** `event`: one that was read, with a text at a key; undefined: where in it that text stands is not sure. */
  static of(event: string, key: string): RepeatedEvent | undefined {
    const name = `"${key}"`;
    const at = event.indexOf(name);
    // With an escape in it a key may be part of a text.
    if (event.includes("\\") || event.indexOf(name, at + 1) !== -1) return undefined;
    if (!event.startsWith(':"', at + name.length)) return undefined;
    const from = at + name.length + 2;
    return new RepeatedEvent(event.slice(0, from), event.slice(event.indexOf('"', from)));
  }

  /** The text of an event that differs in it alone; undefined: it may differ in more. */
  textOf(event: string): string | undefined {
    const to = this.#endOfText(event);
    if (to === undefined) return undefined;
    const text = event.slice(this.#head.length, to);
    return PLAIN.test(text) ? text : undefined;
  }

  /** Whether an event differs in the text alone, whatever that is. */
  matches(event: string): boolean {
    return this.#endOfText(event) !== undefined;
  }

  /** The event with another text in the place of its own, and with a filling that says nothing. */
  withText(event: string, own: string, text: string): string {
    const json = text === own || PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
    const from = this.#head.length + own.length;
    if (this.#end === undefined) return this.#head + json + event.slice(from);
    const length = event.length - this.#end.length - from - this.#tail.length;
    return this.#head + json + this.#tail + fillingOf(length) + this.#end;
  }

  /** It has a filling, which nobody reads: another one of its length goes out. */
  get hasFilling(): boolean {
    return this.#end !== undefined;
  }

  /** Where the text ends of an event that differs in it alone. */
  #endOfText(event: string): number | undefined {
    const from = this.#head.length;
    // Engines compare whole strings by words, and beginnings by characters.
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

/** A filling of a length, which says nothing. */
export function fillingOf(length: number): string {
  return "x".repeat(length);
}

/** OpenAI fills events so that their length does not tell that of their text. */
const FILLING_KEY = '"obfuscation":"';

/** A text, not an empty one, whose JSON is itself. */
const PLAIN = /^[^"\\\u0000-\u001f]+$/;
