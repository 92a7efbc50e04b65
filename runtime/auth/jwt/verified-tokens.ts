/** Maximum characters of tokens in one generation of the cache. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Bounded cache by token, with two generations: when the younger one is full, it replaces the older one. Tokens in use
 * remain, and lookups reorder nothing. Holds at most 8 MiB of tokens.
 */
export class VerifiedTokens<Entry> {
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #characters = 0;

  find(token: string): Entry | undefined {
    const entry = this.#young.get(token);
    if (entry !== undefined) return entry;
    const older = this.#old.get(token);
    if (older !== undefined) this.add(token, older);
    return older;
  }

  add(token: string, entry: Entry): void {
    if (!this.#young.has(token)) this.#characters += token.length;
    this.#young.set(token, entry);
    if (this.#characters < MAX_CHARACTERS) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#characters = 0;
  }

  drop(token: string): void {
    this.#old.delete(token);
    if (this.#young.delete(token)) this.#characters -= token.length;
  }
}
