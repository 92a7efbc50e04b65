/** So many pieces are joined to one. */
const MAX_PIECES = 64;

/** A text that comes in many small pieces, and is held for long: as a sum of strings each piece would stay an object. */
export class LongText {
  #text = "";
  /** What came last, as a sum. */
  #sum = "";
  #pieces = 0;

  /** Adds a piece at its end. */
  add(piece: string): void {
    this.#sum += piece;
    this.#pieces += 1;
    if (this.#pieces === MAX_PIECES) this.#join();
  }

  /** All of it. */
  get text(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    // What a list is joined to is one piece.
    this.#text = [this.#text, this.#sum].join("");
    this.#sum = "";
    this.#pieces = 0;
  }
}
