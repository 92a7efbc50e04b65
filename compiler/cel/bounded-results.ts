/** Characters of keys in both halves together. A compiled rule takes a hundred times the memory of its text. */
const MAX_CHARACTERS = 2_000_000;
/** Characters that an entry counts beyond its key. */
const OVERHEAD = 100;

/**
 * Results by the string that they follow from, within a bound: a controller compiles for months, and a tenant may write
 * a new string with every change. Drops results that were not used since about half of the bound was filled.
 */
export class BoundedResults<Value> {
  #recent: Map<string, Value> = new Map();
  #older: ReadonlyMap<string, Value> = new Map();
  #characters = 0;

  /** The result of a text; `make` is called unless it is known. */
  of(text: string, make: () => Value): Value {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const value = this.#older.get(text) ?? make();
    const cost = text.length + OVERHEAD;
    if (this.#characters + cost > MAX_CHARACTERS / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#characters = 0;
    }
    this.#recent.set(text, value);
    this.#characters += cost;
    return value;
  }

  /** How many results are known. */
  get size(): number {
    return this.#recent.size + this.#older.size;
  }
}
