import type { CountedBuffer } from "../../http/body/counted-buffer.ts";

/** The body of a response while a processor has not said what becomes of it: it gets all of it, or its beginning. */
export class HeldBody {
  readonly #buffer: CountedBuffer;
  readonly #maxShown: number;
  #isShown = false;

  /** `maxShown`: bytes that the processor gets at most. */
  constructor(buffer: CountedBuffer, maxShown: number) {
    this.#buffer = buffer;
    this.#maxShown = maxShown;
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0;
  }

  /** The processor can't get all of it. */
  get isTooLong(): boolean {
    return this.#buffer.length > this.#maxShown;
  }

  /** The processor has got what it gets. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** False: the process holds as much as it may. */
  push(piece: Buffer): boolean {
    return this.#buffer.push(piece);
  }

  /** What the processor gets; what comes from then on follows it as it is. */
  show(): Buffer {
    this.#isShown = true;
    return this.#buffer.bytes().subarray(0, this.#maxShown);
  }

  /** All of it. */
  bytes(): Buffer {
    return this.#buffer.bytes();
  }

  /** All of it with something else in the place of what the processor got; undefined: that stays. */
  changed(shown: Uint8Array | undefined): Uint8Array {
    const whole = this.#buffer.bytes();
    if (shown === undefined) return whole;
    return this.isTooLong ? Buffer.concat([shown, whole.subarray(this.#maxShown)]) : shown;
  }

  /** All of it; nothing is held any more. */
  release(): Buffer {
    const whole = this.#buffer.bytes();
    this.#buffer.release();
    return whole;
  }
}
