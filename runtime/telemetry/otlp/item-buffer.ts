/** Items of a batch as bytes, one behind the other: in one place, and off the heap. */
export class ItemBuffer {
  #bytes = Buffer.allocUnsafe(firstSize);
  #length = 0;
  count = 0;

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

  /** There are none any more: the next batch has the place of this one. */
  clear(): void {
    this.#length = 0;
    this.count = 0;
  }

  #grow(least: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.bytes);
    this.#bytes = bytes;
  }
}

const firstSize = 65_536;
