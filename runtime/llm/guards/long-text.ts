/** So many pieces are joined to one. */
const mostPieces = 64;

/** A text that comes in many small pieces, and is held for long: as a sum of strings each piece would stay an object. */
export class LongText {
  #text = "";
  #pieces: string[] = [];

  /** Adds a piece at its end. */
  add(piece: string): void {
    if (this.#pieces.push(piece) === mostPieces) this.#join();
  }

  /** All of it. */
  get text(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    this.#text = [this.#text, ...this.#pieces].join("");
    this.#pieces = [];
  }
}
