import { isAt, type JsonCodes } from "./json-codes.ts";

/** A fixed set of keys, found by their character codes so that no string is allocated for them. */
export class KnownKeys {
  /** Keys by length: the length alone rules out most other keys. */
  readonly #keys: readonly (readonly KnownKey[] | undefined)[];

  constructor(keys: readonly string[]) {
    const byLength: KnownKey[][] = [];
    for (const key of keys) {
      const known = { key, bytes: Buffer.from(JSON.stringify(key).slice(1, -1)) };
      const { length } = known.bytes;
      byLength[length] = [...(byLength[length] ?? []), known];
    }
    this.#keys = Array.from(byLength);
  }

  /** Returns the key between two positions; `undefined` if it is not in the set or has escapes. */
  at(json: JsonCodes, start: number, end: number): string | undefined {
    const some = this.#keys[end - start];
    if (some === undefined) return undefined;
    for (let i = 0; i < some.length; i++) {
      const known = some[i];
      if (known !== undefined && isAt(json, start, known.bytes)) return known.key;
    }
    return undefined;
  }
}

interface KnownKey {
  readonly key: string;
  readonly bytes: Uint8Array;
}
