/**
 * Results that one compilation leaves to the next, each under a name, with all that it follows from: it is made again
 * when any of that is different. What a compilation did not ask for is forgotten after it.
 */
export class KeptResults<Value> {
  #before: ReadonlyMap<string, KeptResult<Value>> = new Map();
  #asked: Map<string, KeptResult<Value>> = new Map();

  /** The result of this name; `from` is all that it follows from. */
  of(name: string, from: string, make: () => Value): Value {
    const known = this.#asked.get(name) ?? this.#before.get(name);
    const result = known?.from === from ? known : { from, value: make() };
    this.#asked.set(name, result);
    return result.value;
  }

  /** A compilation has ended. */
  turn(): void {
    this.#before = this.#asked;
    this.#asked = new Map();
  }
}

interface KeptResult<Value> {
  readonly from: string;
  readonly value: Value;
}

/** Results by the objects that they follow from: where an object is the same, so is its result. */
export class KeptByObject<Key extends object, Value> {
  readonly #known: WeakMap<Key, Value> = new WeakMap();

  /** Whether the result of an object was made. */
  has(key: Key): boolean {
    return this.#known.has(key);
  }

  /** The result of an object, which is made once. */
  of(key: Key, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#known.set(key, value);
    return value;
  }
}
