/** Items of a batch as bytes, one behind the other: in one place, and off the heap. */
export class ItemBuffer {
  #bytes = Buffer.allocUnsafe(firstSize);
  #length = 0;
  count = 0;

  get length(): number {
    return this.#length;
  }

  /** All of them, until the next one comes. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A text whose characters are bytes (Latin-1). */
  text(text: string): void {
    const { length } = text;
    this.#makeRoom(length);
    if (length > longestLoop) {
      this.#bytes.write(text, this.#length, "latin1");
    } else {
      // A call of the runtime costs as much as a hundred characters.
      const bytes = this.#bytes;
      for (let i = 0, at = this.#length; i < length; i++, at++) bytes[at] = text.charCodeAt(i);
    }
    this.#length += length;
  }

  piece(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  byte(value: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** There are none any more: the next batch has the place of this one. */
  clear(): void {
    this.#length = 0;
    this.count = 0;
  }

  #makeRoom(length: number): void {
    const least = this.#length + length;
    if (least <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.bytes);
    this.#bytes = bytes;
  }
}

const firstSize = 65_536;
const longestLoop = 64;
