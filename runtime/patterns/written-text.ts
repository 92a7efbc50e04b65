import type { Reading } from "./reading.ts";

/** Written form of a text that is matched by its reading; maps places of the reading to it. */
export class WrittenText {
  #text: string;
  /** Place where each unit of the reading starts. */
  #starts: number[];
  /** Place up to which it was returned or dropped. */
  given = 0;

  /** `text`: the text so far, which is read as it is written. */
  constructor(text: string) {
    this.#text = text;
    this.#starts = Array.from({ length: text.length }, (_, at) => at);
  }

  /** `reading`: of the piece; `undefined` if it is read as it is written. */
  push(piece: string, reading: Reading | undefined): void {
    const from = this.#text.length;
    this.#text += piece;
    if (reading === undefined) {
      for (let at = 0; at < piece.length; at++) this.#starts.push(from + at);
    } else {
      for (const start of reading.starts) this.#starts.push(from + start);
    }
  }

  /** Returns the written text up to a place of the reading, from where it was returned before. */
  give(to: number): string {
    const end = this.#starts[to] ?? this.#text.length;
    const given = this.#text.slice(this.given, end);
    this.given = Math.max(this.given, end);
    return given;
  }

  /** Drops the written text up to a place of the reading: whole characters, without the invisible ones after them. */
  skip(to: number): void {
    const last = this.#starts[to - 1];
    if (last === undefined) return;
    const size = (this.#text.codePointAt(last) ?? 0) > 0xffff ? 2 : 1;
    this.given = Math.max(this.given, last + size);
  }

  /** Text that is not discarded. */
  get text(): string {
    return this.#text;
  }

  /**
   * Discards the returned text and `units` units of the reading, and returns its length. Invisible characters that wait are
   * removed beyond a limit, unless `isExact`, when a caller relies on the length.
   */
  trim(units: number, isExact: boolean): number {
    const { given } = this;
    this.#text = this.#text.slice(given);
    this.#starts = this.#starts.slice(units).map((start) => Math.max(0, start - given));
    this.given = 0;
    if (!isExact && this.#text.length - this.#starts.length > MAX_UNSEEN) this.#leaveOutUnseen();
    return given;
  }

  #leaveOutUnseen(): void {
    const written = this.#text;
    const starts: number[] = [];
    let text = "";
    for (const [unit, start] of this.#starts.entries()) {
      if (start === this.#starts[unit - 1]) {
        starts.push(starts[unit - 1] ?? 0);
        continue;
      }
      const isPair = this.#starts[unit + 1] !== start + 1;
      const character = isPair ? String.fromCodePoint(written.codePointAt(start) ?? 0) : "";
      starts.push(text.length);
      text += character || written.charAt(start);
    }
    this.#text = text;
    this.#starts = starts;
  }
}

/** Maximum number of waiting invisible characters: they could delay a match forever. */
const MAX_UNSEEN = 1_024;
