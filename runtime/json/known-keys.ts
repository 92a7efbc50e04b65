import { isAt, type JsonCodes } from "./json-codes.ts";

/** Some keys of objects, that are found by the codes of a key as most write it: nobody has to make a text of it. */
export class KnownKeys {
  /** By length: of most other keys that alone says that they are none of them. */
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

  /** The one that stands between two places, and has no escapes; undefined: another one does. */
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
