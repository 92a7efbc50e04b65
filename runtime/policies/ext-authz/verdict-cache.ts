import { fieldText } from "../../cel/values/field-text.ts";
import type { AuthorizationVerdict, NoVerdict } from "./verdict.ts";

/** How long verdicts are kept, and how many. */
export interface VerdictCacheSettings {
  /** Milliseconds. */
  readonly ttl: number;
  /** Beyond it the one that was not asked for longest is forgotten. */
  readonly maxEntries: number;
}

/** Opens a memory of verdicts. */
export function openVerdictCache(settings: VerdictCacheSettings): VerdictCache {
  return new VerdictCache(settings);
}

/** Asks the server. */
export type Ask = () => Promise<AuthorizationVerdict | NoVerdict>;

interface Entry {
  readonly verdict: AuthorizationVerdict;
  readonly askedAt: number;
}

/** The part of its time after which a verdict is renewed, while it still holds. */
const renewedAfter = 0.8;

/** Verdicts by key. One question at a time is under way for a key; what is no verdict is not kept. */
class VerdictCache {
  readonly #settings: VerdictCacheSettings;
  readonly #entries = new Map<string, Entry>();
  readonly #asking = new Map<string, Promise<AuthorizationVerdict | NoVerdict>>();

  constructor(settings: VerdictCacheSettings) {
    this.#settings = settings;
  }

  /** The verdict for the values of a key; a value that failed makes it none, and the server is asked. */
  async verdict(values: readonly unknown[], ask: Ask): Promise<AuthorizationVerdict | NoVerdict> {
    const texts = values.map(fieldText);
    if (texts.includes(undefined)) return ask();
    const key = JSON.stringify(texts);
    const entry = this.#entries.get(key);
    const { ttl } = this.#settings;
    const age = entry === undefined ? ttl : performance.now() - entry.askedAt;
    if (entry === undefined || age >= ttl) return this.#ask(key, ask);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // A renewal that fails leaves the verdict to its end.
    if (age > ttl * renewedAfter) this.#ask(key, ask).catch(() => {});
    return entry.verdict;
  }

  #ask(key: string, ask: Ask): Promise<AuthorizationVerdict | NoVerdict> {
    const found = this.#asking.get(key);
    if (found !== undefined) return found;
    const askedAt = performance.now();
    const asked = ask()
      .then((verdict) => {
        if (verdict.kind === "verdict") this.#keep(key, { verdict, askedAt });
        return verdict;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const { value: oldest } = this.#entries.keys().next();
    if (this.#entries.size > this.#settings.maxEntries && oldest !== undefined)
      this.#entries.delete(oldest);
  }
}

export type { VerdictCache };
