import type { Reading } from "./reading.ts";

/** How a text is written of which somebody reads how it reads: places of the reading lead to it. */
export class WrittenText {
  #text: string;
  /** Where each unit of the reading begins. */
  #starts: number[];
  /** Up to where it has been given, or left out. */
  given = 0;

  /** `text`: it reads as it is written so far. */
  constructor(text: string) {
    this.#text = text;
    this.#starts = Array.from({ length: text.length }, (_, at) => at);
  }

  /** `reading`: of the piece; undefined: as it is written. */
  push(piece: string, reading: Reading | undefined): void {
    const from = this.#text.length;
    this.#text += piece;
    if (reading === undefined) {
      for (let at = 0; at < piece.length; at++) this.#starts.push(from + at);
    } else {
      for (const start of reading.starts) this.#starts.push(from + start);
    }
  }

  /** What is written up to a place of the reading, from where it was given before. */
  give(to: number): string {
    const end = this.#starts[to] ?? this.#text.length;
    const given = this.#text.slice(this.given, end);
    this.given = Math.max(this.given, end);
    return given;
  }

  /** Leaves out what is written up to a place of the reading: whole characters, and not what nobody sees behind them. */
  skip(to: number): void {
    const last = this.#starts[to - 1];
    if (last === undefined) return;
    const size = (this.#text.codePointAt(last) ?? 0) > 0xffff ? 2 : 1;
    this.given = Math.max(this.given, last + size);
  }

  /** What was not forgotten. */
  get text(): string {
    return this.#text;
  }

  /**
   * Forgets what was given, and so many units of the reading; how much that is. What waits is never much longer than it
   * reads, but where `isExact`: somebody counts on its length.
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

/** So many characters that nobody sees may wait with a text: they can hold up a match for ever. */
const MAX_UNSEEN = 1_024;
