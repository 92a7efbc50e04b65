import type { CountedBuffer } from "../../http/body/counted-buffer.ts";

/** The buffered body of a response, or its beginning, until the processor has responded to it. */
export class HeldBody {
  readonly #buffer: CountedBuffer;
  readonly #maxShown: number;
  #isShown = false;

  /** `maxShown`: maximum number of bytes that the processor receives. */
  constructor(buffer: CountedBuffer, maxShown: number) {
    this.#buffer = buffer;
    this.#maxShown = maxShown;
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0;
  }

  /** Whether the body is too long for the processor. */
  get isTooLong(): boolean {
    return this.#buffer.length > this.#maxShown;
  }

  /** Whether the processor has received its part. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** Returns false if the buffers of the process are full. */
  push(piece: Buffer): boolean {
    return this.#buffer.push(piece);
  }

  /** Returns the processor's part; later bytes follow it unchanged. */
  show(): Buffer {
    this.#isShown = true;
    return this.#buffer.bytes().subarray(0, this.#maxShown);
  }

  /** Returns the whole body. */
  bytes(): Buffer {
    return this.#buffer.bytes();
  }

  /** Returns the whole body with the processor's part replaced; `undefined` keeps that part. */
  changed(shown: Uint8Array | undefined): Uint8Array {
    const whole = this.#buffer.bytes();
    if (shown === undefined) return whole;
    return this.isTooLong ? Buffer.concat([shown, whole.subarray(this.#maxShown)]) : shown;
  }

  /** Returns the whole body and frees the buffer. */
  release(): Buffer {
    const whole = this.#buffer.bytes();
    this.#buffer.release();
    return whole;
  }
}
