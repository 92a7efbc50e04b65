import { KnownKeys } from "../../json/known-keys.ts";

/**
 * Keys of a simple body. Guards read each string of such a body as it is decoded, alone: no key holds encoded data, nested
 * JSON, or free members. `content` of one message is joined with that of the next only if both have the same role.
 */
export class SimpleKeys {
  readonly #keys: KnownKeys;
  readonly #bits: ReadonlyMap<string, number>;

  /** At most 31 keys, among them `role` and `content`. */
  constructor(keys: readonly string[]) {
    this.#keys = new KnownKeys(keys);
    this.#bits = new Map(keys.map((key, index) => [key, 1 << index]));
  }

  /** Returns the bit of the key between two positions; 0 if it is not in the list or has escapes. */
  at(codes: Uint16Array, start: number, end: number): number {
    const key = this.#keys.at(codes, start, end);
    return key === undefined ? 0 : (this.#bits.get(key) ?? 0);
  }

  /** Returns the bit of a key. */
  bitOf(key: string): number {
    return this.#bits.get(key) ?? 0;
  }
}
