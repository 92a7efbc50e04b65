/**
 * Further log fields of a request by name, in the order in which they were first set. They are few, so searching a list is
 * faster than filling a map.
 */
export class NotedFields {
  readonly #list: string[] = [];

  /** Flat list: `[name, value, name, value, ...]`. */
  get list(): readonly string[] {
    return this.#list;
  }

  get(name: string): string | undefined {
    const at = this.#indexOf(name);
    return at === -1 ? undefined : this.#list[at + 1];
  }

  has(name: string): boolean {
    return this.#indexOf(name) !== -1;
  }

  set(name: string, value: string): this {
    const at = this.#indexOf(name);
    if (at === -1) this.#list.push(name, value);
    else this.#list[at + 1] = value;
    return this;
  }

  delete(name: string): void {
    const at = this.#indexOf(name);
    if (at !== -1) this.#list.splice(at, 2);
  }

  /** Returns each name with its value. */
  entries(): (readonly [name: string, value: string])[] {
    const list = this.#list;
    return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? ""] as const] : []));
  }

  #indexOf(name: string): number {
    const list = this.#list;
    for (let i = 0; i < list.length; i += 2) if (list[i] === name) return i;
    return -1;
  }
}
