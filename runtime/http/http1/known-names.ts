/** Some names of fields, lower case, that are found by the bytes of a name as it was sent: nobody has to lower its case. */
export class KnownNames {
  /** By length and first letter. */
  readonly #names: readonly (readonly KnownName[] | undefined)[];
  readonly #longest: number;

  constructor(names: readonly string[]) {
    this.#longest = Math.max(...names.map((name) => name.length));
    const table: KnownName[][] = [];
    for (const name of names) {
      const place = placeOf(name.length, name.charCodeAt(0));
      table[place] = [...(table[place] ?? []), { name, bytes: Buffer.from(name) }];
    }
    this.#names = Array.from(table);
  }

  /** The one of them that stands there, in whatever case; undefined: another name does. `end`: where it ends. */
  at(bytes: Uint8Array, start: number, end: number): string | undefined {
    const length = end - start;
    if (length > this.#longest) return undefined;
    const names = this.#names[placeOf(length, bytes[start] ?? 0)];
    if (names === undefined) return undefined;
    for (let i = 0; i < names.length; i++) {
      const known = names[i];
      if (known !== undefined && isThere(known.bytes, bytes, start)) return known.name;
    }
    return undefined;
  }
}

interface KnownName {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Letters of both cases have one place; so have some other characters, which are told apart by their bytes. */
function placeOf(length: number, first: number): number {
  return length * 32 + (first & 31);
}

/** A name is made of letters and hyphens: what is not a letter is compared as it is. */
function isThere(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) {
    const wanted = name[i] ?? 0;
    const byte = bytes[start + i] ?? 0;
    if (byte !== wanted && (wanted === 0x2d || (byte | 0x20) !== wanted)) return false;
  }
  return true;
}
