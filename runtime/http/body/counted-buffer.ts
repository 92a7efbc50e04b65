import type { BufferBudget } from "../../process/buffer-budget.ts";

/** Pieces with fewer bytes are copied together, because a buffer of one byte takes a hundred times its size. */
const SMALL_PIECE = 1024;
const BLOCK_SIZE = 4096;

/** Collects a message until it is complete. Its bytes count against the budget of the process. */
export class CountedBuffer {
  readonly #budget: BufferBudget | undefined;
  /** `undefined` if there are no pieces. Most messages are one piece, and a growing list would allocate room for 17. */
  #pieces: Buffer[] | undefined;
  /** The last piece, if it is a block with free space. */
  #block: Buffer | undefined;
  #blockLength = 0;
  #length = 0;
  #isReleased = false;

  /** Bytes do not count without a budget: for short messages outside of an exchange. */
  constructor(budget: BufferBudget | undefined) {
    this.#budget = budget;
  }

  /** Number of collected bytes. */
  get length(): number {
    return this.#length;
  }

  /** Adds a piece. Returns false if the process buffers as much as it may; the whole message is then dropped. */
  push(piece: Buffer): boolean {
    if (this.#isReleased || this.#budget?.take(piece.length) === false) {
      this.release();
      return false;
    }
    this.#length += piece.length;
    const pieces = this.#pieces;
    if (pieces === undefined) this.#pieces = [piece];
    else if (piece.length < SMALL_PIECE) this.#append(pieces, piece);
    else {
      this.#closeBlock();
      pieces.push(piece);
    }
    return true;
  }

  /** Returns all bytes in one buffer. */
  bytes(): Buffer {
    this.#closeBlock();
    const pieces = this.#pieces ?? [];
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) return only;
    const whole = Buffer.concat(pieces, this.#length);
    this.#pieces = [whole];
    return whole;
  }

  /** Drops all bytes and ignores further ones. Can be called more than once. */
  release(): void {
    this.#isReleased = true;
    this.#budget?.give(this.#length);
    this.#length = 0;
    this.#pieces = undefined;
    this.#block = undefined;
  }

  #append(pieces: Buffer[], piece: Buffer): void {
    if (this.#block === undefined || this.#blockLength + piece.length > BLOCK_SIZE) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_SIZE);
      pieces.push(this.#block);
    }
    piece.copy(this.#block, this.#blockLength);
    this.#blockLength += piece.length;
  }

  #closeBlock(): void {
    if (this.#block === undefined || this.#pieces === undefined) return;
    this.#pieces[this.#pieces.length - 1] = this.#block.subarray(0, this.#blockLength);
    this.#block = undefined;
    this.#blockLength = 0;
  }
}
