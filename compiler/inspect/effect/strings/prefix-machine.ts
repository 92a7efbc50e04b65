import type { Work } from "../work/work.ts";
import type { Machine } from "./machine.ts";
import type { StringFeature } from "./string-feature.ts";

const ONE = "1".charCodeAt(0);

interface TrieNode {
  readonly next: Map<number, number>;
  /** State after a character that no constant has here, in which only the passed prefixes matter. */
  away: number | undefined;
  accepted: string;
}

/** An automaton for all constants and prefixes: one trie. */
export class PrefixMachine implements Machine {
  readonly start = 0;
  readonly #alphabet: readonly number[];
  readonly #nodes: TrieNode[] = [];

  constructor(features: readonly StringFeature[], alphabet: readonly number[], work: Work) {
    this.#alphabet = alphabet;
    const equal = new Map<number, number[]>();
    const prefixes = new Map<number, number[]>();
    this.#add();
    features.forEach(({ kind, text }, index) => {
      work.spend(text.length * 4);
      const end = this.#insert(text);
      const ends = kind === "equals" ? equal : prefixes;
      ends.set(end, [...(ends.get(end) ?? []), index]);
    });
    work.spend(this.#nodes.length * (10 + features.length / 4));
    this.#finish(features.length, equal, prefixes);
  }

  step(state: number, symbol: number): number {
    const node = this.#nodes[state];
    return node?.next.get(this.#alphabet[symbol] ?? -1) ?? node?.away ?? state;
  }

  accepted(state: number): string {
    return this.#nodes[state]?.accepted ?? "";
  }

  #add(): number {
    return this.#nodes.push({ next: new Map(), away: undefined, accepted: "" }) - 1;
  }

  #insert(text: string): number {
    let at = 0;
    for (const character of text) {
      const rune = character.codePointAt(0) ?? 0;
      const known = this.#nodes[at]?.next.get(rune);
      const next = known ?? this.#add();
      this.#nodes[at]?.next.set(rune, next);
      at = next;
    }
    return at;
  }

  #finish(
    count: number,
    equal: ReadonlyMap<number, readonly number[]>,
    prefixes: ReadonlyMap<number, readonly number[]>,
  ): void {
    const vector = (has: readonly number[]): string => {
      const digits = Buffer.alloc(count, "0");
      for (const index of has) digits[index] = ONE;
      return digits.toString("latin1");
    };
    const elsewhere = new Map<string, number>();
    const open: { readonly at: number; readonly above: readonly number[] }[] = [
      { at: 0, above: [] },
    ];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const passed = [...each.above, ...(prefixes.get(each.at) ?? [])];
      const node = this.#nodes[each.at];
      if (node === undefined) continue;
      node.accepted = vector([...passed, ...(equal.get(each.at) ?? [])]);
      const key = passed.join();
      const away = elsewhere.get(key) ?? this.#add();
      elsewhere.set(key, away);
      const outside = this.#nodes[away];
      if (outside !== undefined) outside.accepted = vector(passed);
      node.away = away;
      for (const next of node.next.values()) open.push({ at: next, above: passed });
    }
  }
}
