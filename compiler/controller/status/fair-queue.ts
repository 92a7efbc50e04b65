/**
 * Items that wait by the namespaces that they are of, which take turns: a namespace with thousands of them holds up the
 * items of others by one each.
 */
export class FairQueue<Item> {
  /** By namespace, then by ID; the next namespace is first. */
  readonly #waiting: Map<string, Map<string, Item>> = new Map();

  get size(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Adds an item, or replaces the one of the same id in its place. */
  add(namespace: string, id: string, item: Item): void {
    const own = this.#waiting.get(namespace) ?? new Map<string, Item>();
    own.set(id, item);
    this.#waiting.set(namespace, own);
  }

  /** Removes the next item that may be taken now; `undefined` if there is no such item. */
  take(isFree: (id: string) => boolean): readonly [id: string, item: Item] | undefined {
    for (const [namespace, own] of this.#waiting) {
      for (const [id, item] of own) {
        if (!isFree(id)) continue;
        own.delete(id);
        this.#waiting.delete(namespace);
        if (own.size > 0) this.#waiting.set(namespace, own);
        return [id, item];
      }
    }
    return undefined;
  }
}
