import { isArrayAt, type Member, skipSpace } from "./json-text.ts";

/**
 * JSON object of a message body, edited as a string: untouched members keep their numbers, order and escapes. Values are
 * JSON.
 */
export class JsonBody {
  readonly #text: string;
  readonly #members: readonly Member[];
  /** New values by key; null deletes the member. `undefined` until the first change, as most bodies are never changed. */
  #changes: Map<string, string | null> | undefined;

  /** `text` has passed JSON.parse, and is an object without repeated keys. */
  constructor(text: string, members: readonly Member[]) {
    this.#text = text;
    this.#members = members;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Returns the JSON of a value; `undefined` if the key is absent. */
  get(key: string): string | undefined {
    const changed = this.#changes?.get(key);
    if (changed !== undefined) return changed ?? undefined;
    const member = this.#member(key);
    return member && this.#text.slice(member.start, member.end);
  }

  set(key: string, value: string): void {
    this.#change(key, value);
  }

  /** Sets a value if the key is absent or null. */
  setDefault(key: string, value: string): void {
    const present = this.get(key);
    if (present === undefined || present === "null") this.set(key, value);
  }

  delete(key: string): void {
    if (this.#member(key) !== undefined) this.#change(key, null);
    else this.#changes?.delete(key);
  }

  /** Inserts items at the start of a list. Ignores values that are not lists. */
  prepend(key: string, items: string): void {
    const list = this.get(key);
    if (list === undefined || !isArrayAt(list, 0)) return;
    const rest = list.slice(skipSpace(list, 1));
    this.set(key, rest.startsWith("]") ? `[${items}]` : `[${items},${rest}`);
  }

  /** Appends items to a list. Ignores values that are not lists. */
  append(key: string, items: string): void {
    const list = this.get(key);
    if (list === undefined || !isArrayAt(list, 0)) return;
    const isEmpty = list.charAt(skipSpace(list, 1)) === "]";
    this.set(key, `${list.slice(0, -1).trimEnd()}${isEmpty ? "" : ","}${items}]`);
  }

  /** Whether anything was changed. */
  get isChanged(): boolean {
    return this.#changes !== undefined && this.#changes.size > 0;
  }

  toString(): string {
    const changes = this.#changes;
    if (changes === undefined || changes.size === 0) return this.#text;
    const parts: string[] = [];
    for (const { key, keyStart, start, end } of this.#members) {
      const value = changes.get(key);
      if (value === undefined) parts.push(this.#text.slice(keyStart, end));
      else if (value !== null) parts.push(this.#text.slice(keyStart, start) + value);
    }
    for (const [key, value] of changes) {
      if (value === null || this.#member(key) !== undefined) continue;
      parts.push(`${JSON.stringify(key)}:${value}`);
    }
    return `{${parts.join(",")}}`;
  }

  #change(key: string, value: string | null): void {
    this.#changes ??= new Map();
    this.#changes.set(key, value);
  }

  /** Linear search: with few edits and few members, an index costs more than it saves. */
  #member(key: string): Member | undefined {
    return this.#members.find((member) => member.key === key);
  }
}
