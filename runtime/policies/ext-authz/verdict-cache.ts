import { fieldText } from "../../cel/values/field-text.ts";
import type { OnAbort } from "../../process/on-abort.ts";
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

/** Asks the server, until nobody waits for its verdict any more. */
export type Ask = (onAbort: OnAbort) => Promise<AuthorizationVerdict | NoVerdict>;

interface Entry {
  readonly verdict: AuthorizationVerdict;
  readonly askedAt: number;
}

/** The part of its time after which a verdict is renewed, while it still holds. */
const RENEWED_AFTER = 0.8;

/** Verdicts by key. One question at a time is under way for a key; what is no verdict is not kept. */
class VerdictCache {
  readonly #settings: VerdictCacheSettings;
  readonly #entries = new Map<string, Entry>();
  readonly #asking = new Map<string, Question>();

  constructor(settings: VerdictCacheSettings) {
    this.#settings = settings;
  }

  /**
   * The verdict for the values of a key; a value that failed makes it none, and the server is asked. `onAbort`: of who
   * waits for it.
   */
  async verdict(
    values: readonly unknown[],
    ask: Ask,
    onAbort: OnAbort,
  ): Promise<AuthorizationVerdict | NoVerdict> {
    const texts = values.map(fieldText);
    if (texts.includes(undefined)) return ask(onAbort);
    const key = JSON.stringify(texts);
    const entry = this.#entries.get(key);
    const { ttl } = this.#settings;
    const age = entry === undefined ? ttl : performance.now() - entry.askedAt;
    if (entry === undefined || age >= ttl) return this.#ask(key, ask, onAbort);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // A renewal that fails leaves the verdict to its end; it is made for those to come, whoever leaves.
    if (age > ttl * RENEWED_AFTER) this.#ask(key, ask, () => {}).catch(() => {});
    return entry.verdict;
  }

  #ask(key: string, ask: Ask, onAbort: OnAbort): Promise<AuthorizationVerdict | NoVerdict> {
    const question = this.#asking.get(key) ?? this.#begin(key, ask);
    question.waitFor(onAbort);
    return question.verdict;
  }

  #begin(key: string, ask: Ask): Question {
    const askedAt = performance.now();
    const question = new Question((onAbort) => {
      // Who comes now asks anew.
      onAbort(() => this.#forget(key, question));
      return ask(onAbort)
        .then((verdict) => {
          if (verdict.kind === "verdict") this.#keep(key, { verdict, askedAt });
          return verdict;
        })
        .finally(() => this.#forget(key, question));
    });
    this.#asking.set(key, question);
    return question;
  }

  #forget(key: string, question: Question): void {
    if (this.#asking.get(key) === question) this.#asking.delete(key);
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const { value: oldest } = this.#entries.keys().next();
    if (this.#entries.size > this.#settings.maxEntries && oldest !== undefined)
      this.#entries.delete(oldest);
  }
}

/** A question that is under way, for all who wait for its verdict. */
class Question {
  readonly verdict: Promise<AuthorizationVerdict | NoVerdict>;
  readonly #aborts: (() => void)[] = [];
  #waiting = 0;

  constructor(ask: Ask) {
    this.verdict = ask((abort) => this.#aborts.push(abort));
  }

  /** One more waits for it; when the last one leaves, it is taken back. */
  waitFor(onAbort: OnAbort): void {
    this.#waiting += 1;
    onAbort(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) for (const abort of this.#aborts) abort();
    });
  }
}

export type { VerdictCache };
