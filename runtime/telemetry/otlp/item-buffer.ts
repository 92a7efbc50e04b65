/**
 * The encoded items of a batch, contiguous and off the heap. The parts of a request before and after them are written
 * around them, so that half a megabyte need not be copied.
 */
export class ItemBuffer {
  readonly #room: number;
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  /** A view of the same bytes. */
  #view = viewOf(this.#bytes);
  /** Bytes in use, including the room. */
  #length: number;
  /** End of the last counted item. */
  #counted: number;
  count = 0;

  /** `room`: bytes to leave free before the items. */
  constructor(room = 0) {
    this.#room = room;
    this.#length = room;
    this.#counted = room;
    this.#makeRoom(0);
  }

  /** Counts a complete item. Returns its number of bytes. */
  countItem(): number {
    const bytes = this.#length - this.#counted;
    this.#counted = this.#length;
    this.count += 1;
    return bytes;
  }

  get length(): number {
    return this.#length - this.#room;
  }

  /** Returns all items; valid until the next one is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#room, this.#length);
  }

  /**
   * Returns all items between two strings (Latin-1); valid until `clear`. `before` also overwrites the first `replaced`
   * bytes of the items.
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

  /** Appends a string whose characters are bytes (Latin-1). */
  text(text: string): void {
    const { length } = text;
    this.#makeRoom(length);
    if (length > MAX_LOOP) {
      this.#bytes.write(text, this.#length, "latin1");
    } else {
      // A native call costs as much as a hundred characters.
      const bytes = this.#bytes;
      for (let i = 0, at = this.#length; i < length; i++, at++) bytes[at] = text.charCodeAt(i);
    }
    this.#length += length;
  }

  /** Appends bytes. Returns their offset, for overwriting some of them. */
  piece(bytes: Uint8Array): number {
    const { length } = bytes;
    const at = this.#length;
    this.#makeRoom(length);
    if (length > MAX_LOOP) this.#bytes.set(bytes, at);
    else for (let i = 0; i < length; i++) this.#bytes[at + i] = bytes[i] ?? 0;
    this.#length = at + length;
    return at;
  }

  /** Overwrites bytes, four at a time: `count` is a multiple of four. */
  put(at: number, from: DataView, start: number, count: number): void {
    const view = this.#view;
    for (let i = 0; i < count; i += 4) view.setUint32(at + i, from.getUint32(start + i));
  }

  /** Overwrites 32 bits, little-endian. */
  putWord(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  byte(value: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Appends a non-negative protobuf varint. */
  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    this.byte(rest);
  }

  /** Removes all items, so that the next batch reuses the buffer. */
  clear(): void {
    this.#length = this.#room;
    this.#counted = this.#room;
    this.count = 0;
  }

  #makeRoom(length: number): void {
    const least = this.#length + length;
    if (least <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

/**
 * Copies pieces into one buffer with memory of its own, for bytes that are cached. Node.js allocates small buffers from a
 * shared slab: a cached one would keep the whole slab alive.
 */
export function unpooledBytes(...pieces: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Returns a view for reading and writing multi-byte numbers. */
export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

const FIRST_SIZE = 65_536;
const MAX_LOOP = 64;
