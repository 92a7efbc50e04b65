/**
 * Cached results of one compilation for the next, by name, with all their inputs: a result is recomputed if any input
 * differs. Results that a compilation does not use are dropped.
 */
export class CachedResults<Value> {
  #before: ReadonlyMap<string, CachedResult<Value>> = new Map();
  #asked: Map<string, CachedResult<Value>> = new Map();

  /** Returns the result of this name; `from` contains all its inputs. */
  of(name: string, from: string, make: () => Value): Value {
    const known = this.#asked.get(name) ?? this.#before.get(name);
    const result = known?.from === from ? known : { from, value: make() };
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
