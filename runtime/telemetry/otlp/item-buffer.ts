/**
 * Items of a batch as bytes, one behind the other: in one place, and off the heap. What stands before and behind them in a
 * request is written around them: half a megabyte is not copied for it.
 */
export class ItemBuffer {
  readonly #room: number;
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  /** The same. */
  #view = viewOf(this.#bytes);
  /** Bytes, with the room. */
  #length: number;
  /** Where the last item that was counted ends. */
  #counted: number;
  count = 0;

  /** `room`: bytes that are free before the items. */
  constructor(room = 0) {
    this.#room = room;
    this.#length = room;
    this.#counted = room;
    this.#makeRoom(0);
  }

  /** An item is complete. Gives its bytes. */
  countItem(): number {
    const bytes = this.#length - this.#counted;
    this.#counted = this.#length;
    this.count += 1;
    return bytes;
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
    if (length > MAX_LOOP) {
      this.#bytes.write(text, this.#length, "latin1");
    } else {
      // A call of the runtime costs as much as a hundred characters.
      const bytes = this.#bytes;
      for (let i = 0, at = this.#length; i < length; i++, at++) bytes[at] = text.charCodeAt(i);
    }
    this.#length += length;
  }

  /** Gives the place of the bytes, for who writes over some of them. */
  piece(bytes: Uint8Array): number {
    const { length } = bytes;
    const at = this.#length;
    this.#makeRoom(length);
    if (length > MAX_LOOP) this.#bytes.set(bytes, at);
    else for (let i = 0; i < length; i++) this.#bytes[at + i] = bytes[i] ?? 0;
    this.#length = at + length;
    return at;
  }

  /** Writes some bytes of another place over what is there, four at a time: `count` is a multiple of that. */
  put(at: number, from: DataView, start: number, count: number): void {
    const view = this.#view;
    for (let i = 0; i < count; i += 4) view.setUint32(at + i, from.getUint32(start + i));
  }

  /** Writes 32 bits over what is there, the lowest first. */
  putWord(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  byte(value: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** A number of protobuf that is not negative. */
  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    this.byte(rest);
  }

  /** There are none any more: the next batch has the place of this one. */
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
 * Copies pieces into one buffer with memory of its own, for bytes that are cached. A small buffer that Node.js makes is a part
 * of a slab that it shares with others: cached, it would keep the whole slab.
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

/** Bytes as numbers of several. */
export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

const FIRST_SIZE = 65_536;
const MAX_LOOP = 64;
