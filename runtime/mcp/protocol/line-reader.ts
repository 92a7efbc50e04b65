/** Splits a byte stream into lines; memory is bounded by `limit` bytes per line. */
export class LineReader {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #pieces: Buffer[] = [];
  #held = 0;
  #isSkipping = false;

  /** `onTooLong` is called once for a line over the limit; the rest of the line is skipped. */
  constructor(limit: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end === -1) break;
      this.#add(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(piece: Buffer): void {
    if (this.#isSkipping || piece.length === 0) return;
    this.#held += piece.length;
    if (this.#held <= this.#limit) {
      this.#pieces.push(piece);
      return;
    }
    this.#isSkipping = true;
    this.#pieces = [];
    this.#onTooLong();
  }

  #finish(): void {
    const line = this.#isSkipping ? "" : lineOf(this.#pieces);
    this.#pieces = [];
    this.#held = 0;
    this.#isSkipping = false;
    if (line !== "") this.#onLine(line);
  }
}

function lineOf(pieces: readonly Buffer[]): string {
  const [first] = pieces;
  const bytes = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
  return bytes.toString("utf8").trim();
}
