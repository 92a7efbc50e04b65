import { createHash } from "node:crypto";
import { serialize } from "node:v8";

/**
 * Cached results of one compilation for the next, by name, with all their inputs: a result is recomputed if any input
 * differs. Results that a compilation does not use are dropped.
 */
export class CachedResults<Value> {
  #before: ReadonlyMap<string, CachedResult<Value>> = new Map();
  #asked: Map<string, CachedResult<Value>> = new Map();

  /** Returns the result of this name; `from` contains all its inputs. `make` gets the result of the previous inputs. */
  of(name: string, from: string, make: (before: Value | undefined) => Value): Value {
    const known = this.#asked.get(name) ?? this.#before.get(name);
    const result = known?.from === from ? known : { from, value: make(known?.value) };
    this.#asked.set(name, result);
    return result.value;
  }

  /** Marks the end of a compilation. */
  turn(): void {
    this.#before = this.#asked;
    this.#asked = new Map();
  }
}

interface CachedResult<Value> {
  readonly from: string;
  readonly value: Value;
}

/** Cached results by the objects that they are computed from. */
export class CachedByObject<Key extends object, Value> {
  readonly #known: WeakMap<Key, Value> = new WeakMap();

  /** Whether the result of an object is cached. */
  has(key: Key): boolean {
    return this.#known.has(key);
  }

  /** Returns the result of an object, which is computed once. */
  of(key: Key, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#known.set(key, value);
    return value;
  }
}

/** Cached results by lists of objects, each for a name. */
export class CachedByObjects<Key extends object, Value> {
  readonly #known: WeakMap<
    Key,
    Map<string, { readonly keys: readonly Key[]; readonly value: Value }>
  > = new WeakMap();

  /** Returns the result of a list and a name, which is computed once for the same objects. */
  of(keys: readonly Key[], name: string, make: () => Value): Value {
    const [first] = keys;
    if (first === undefined) return make();
    const ofFirst = this.#known.get(first) ?? new Map();
    this.#known.set(first, ofFirst);
    const known = ofFirst.get(name);
    if (
      known?.keys.length === keys.length &&
      keys.every((each, index) => each === known.keys[index])
    )
      return known.value;
    const value = make();
    ofFirst.set(name, { keys, value });
    return value;
  }
}

/** Returns a digest of plain data, with maps and sets. */
export function valueDigest(value: unknown): string {
  return createHash("sha256").update(serialize(value)).digest("base64");
}
