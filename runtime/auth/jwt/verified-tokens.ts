/** Characters of tokens in one generation of the cache. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * A bounded cache by token. Two generations: when the younger one is full it becomes the older one and the older one is
 * dropped, so that a token in use stays and no lookup reorders anything. At most 8 MiB of tokens are held.
 */
export class VerifiedTokens<Entry> {
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #characters = 0;

  find(token: string): Entry | undefined {
    const entry = this.#young.get(token);
    if (entry !== undefined) return entry;
    const older = this.#old.get(token);
    if (older !== undefined) this.keep(token, older);
    return older;
  }

  keep(token: string, entry: Entry): void {
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
