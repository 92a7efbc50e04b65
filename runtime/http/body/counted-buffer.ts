import type { BufferBudget } from "../../process/buffer-budget.ts";

/** Pieces below this size (bytes) are copied together: as a buffer of its own, one byte takes a hundred times its size. */
const SMALL_PIECE = 1024;
const BLOCK_SIZE = 4096;

/** A message that is gathered until it is whole. Its bytes count against the budget of the process. */
export class CountedBuffer {
  readonly #budget: BufferBudget | undefined;
  /** Undefined without any. Most messages are one piece: a list that others were added to would have room for 17. */
  #pieces: Buffer[] | undefined;
  /** The last piece, where it is a block with room for more. */
  #block: Buffer | undefined;
  #blockLength = 0;
  #length = 0;
  #isReleased = false;

  /** Without a budget it does not count: for short messages that come beside an exchange. */
  constructor(budget: BufferBudget | undefined) {
    this.#budget = budget;
  }

  /** Bytes that are held. */
  get length(): number {
    return this.#length;
  }

  /** False: the process holds as much as it may, and nothing of this message is held any more. */
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

  /** All that is held, in one. */
  bytes(): Buffer {
    this.#closeBlock();
    const pieces = this.#pieces ?? [];
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) return only;
    const whole = Buffer.concat(pieces, this.#length);
    this.#pieces = [whole];
    return whole;
  }

  /** Nothing is held any more, and nothing will be. Safe to call again. */
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
