/**
 * Items of a batch as bytes, one behind the other: in one place, and off the heap. What stands before and behind them in a
 * request is written around them: half a megabyte is not copied for it.
 */
export class ItemBuffer {
  readonly #room: number;
  #bytes = Buffer.allocUnsafe(firstSize);
  /** Bytes, with the room. */
  #length: number;
  count = 0;

  /** `room`: bytes that are free before the items. */
  constructor(room = 0) {
    this.#room = room;
    this.#length = room;
    this.#makeRoom(0);
  }

  get length(): number {
    return this.#length - this.#room;
  }

  /** All of them, until the next one comes. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#room, this.#length);
  }

  /**
   * All of them between two texts (Latin-1), until there are none any more. `before` takes the place of their first
   * `replaced` bytes, too.
   */
  between(before: string, behind: string, replaced = 0): Buffer {
    const end = this.#length;
    this.text(behind);
    this.#length = end;
    const from = this.#room + replaced - before.length;
    if (from < 0) throw new Error(`there is no room for ${before.length} bytes`);
    this.#bytes.write(before, from, "latin1");
    return this.#bytes.subarray(from, end + behind.length);
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
    this.#length = this.#room;
    this.count = 0;
  }

  #makeRoom(length: number): void {
    const least = this.#length + length;
    if (least <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}

const firstSize = 65_536;
const longestLoop = 64;
