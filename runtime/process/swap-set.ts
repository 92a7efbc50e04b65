/** What can be one of many. */
export interface Indexed {
  /** Where it stands among the others; theirs to say. */
  place: number;
}

/**
 * Many that come and go, in no order. A set would be copied again and again, and V8 has each copy lead to the next one: once
 * the first is old, who was in any of them is only cleared away with the whole heap.
 */
export class SwapSet<Each extends Indexed> {
  readonly #all: Each[] = [];

  get size(): number {
    return this.#all.length;
  }

  has(member: Each): boolean {
    return this.#all[member.place] === member;
  }

  add(member: Each): void {
    member.place = this.#all.push(member) - 1;
  }

  /** The last one takes its place. */
  delete(member: Each): void {
    if (!this.has(member)) return;
    const last = this.#all.pop();
    if (last === undefined || last === member) return;
    this.#all[member.place] = last;
    last.place = member.place;
  }

  /** Calls back with each of them, which may leave meanwhile. */
  visit(callback: (member: Each) => void): void {
    for (let i = this.#all.length - 1; i >= 0; i--) {
      const member = this.#all[i];
      if (member !== undefined) callback(member);
    }
  }
}
