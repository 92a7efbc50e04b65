/** Items of a batch as bytes, one behind the other: in one place, and off the heap. */
export class ItemBuffer {
  #bytes: Buffer;
  #length = 0;
  count = 0;

  /** `size`: bytes that it probably comes to. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Every character of an item is a byte. */
  add(item: string): void {
    const end = this.#length + item.length;
    if (end > this.#bytes.length) this.#grow(end);
    this.#bytes.write(item, this.#length, "latin1");
    this.#length = end;
    this.count += 1;
  }

  get length(): number {
    return this.#length;
  }

  /** All of them, until the next one comes. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(least: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.bytes);
    this.#bytes = bytes;
  }
}
