/**
 * Waiting items, by namespaces or callers that take turns: an owner of thousands of items delays the items of others by
 * one each.
 */
export class FairQueue<Item> {
  /** By owner, then by ID; the next owner is first. */
  readonly #waiting: Map<string, Map<string, Item>> = new Map();

  get size(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Adds an item, or replaces the one of the same id in its place. */
  add(owner: string, id: string, item: Item): void {
    const own = this.#waiting.get(owner) ?? new Map<string, Item>();
    own.set(id, item);
    this.#waiting.set(owner, own);
  }

  /** Removes the next item that may be taken now; `undefined` if there is no such item. */
  take(isFree: (id: string) => boolean): readonly [id: string, item: Item] | undefined {
    for (const [owner, own] of this.#waiting) {
      for (const [id, item] of own) {
        if (!isFree(id)) continue;
        own.delete(id);
        this.#waiting.delete(owner);
        if (own.size > 0) this.#waiting.set(owner, own);
        return [id, item];
      }
    }
    return undefined;
  }

  /**
   * Removes the newest item of the owner with the most, to make room for one more of `owner`; `undefined` if no other
   * owner would have more.
   */
  dropNewest(owner: string): Item | undefined {
    const [largest] = [...this.#waiting].toSorted(([, a], [, b]) => b.size - a.size);
    const [of, items] = largest ?? [];
    const [id, newest] = [...(items ?? [])].at(-1) ?? [];
    const own = this.#waiting.get(owner)?.size ?? 0;
    if (of === undefined || items === undefined || id === undefined || items.size <= own + 1)
      return undefined;
    items.delete(id);
    if (items.size === 0) this.#waiting.delete(of);
    return newest;
  }
}
