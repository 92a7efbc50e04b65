import { millisOf, millisUntil } from "../../cel/time/millis-of.ts";
import { Duration } from "../../cel/time/time-values.ts";
import { fieldText } from "../../cel/values/field-text.ts";
import type { OnAbort } from "../../process/on-abort.ts";
import type { AuthorizationVerdict, NoVerdict } from "./verdict.ts";

/** Lifetime and maximum number of cached verdicts. */
export interface VerdictCacheSettings {
  /** Milliseconds; absent if each verdict has its own time (`keep`). */
  readonly ttl?: number;
  /** If exceeded, the least recently used entry is dropped. */
  readonly maxEntries: number;
}

/** Creates a cache of verdicts. */
export function openVerdictCache(settings: VerdictCacheSettings): VerdictCache {
  return new VerdictCache(settings);
}

/** Asks the server; aborted when no request waits for the verdict any more. */
export type Ask = (onAbort: OnAbort) => Promise<AuthorizationVerdict | NoVerdict>;

interface Entry {
  readonly verdict: AuthorizationVerdict;
  readonly askedAt: number;
  /** Milliseconds. */
  readonly ttl: number;
}

/** Share of the lifetime after which a verdict is renewed in the background. */
const RENEWED_AFTER = 0.8;

/** Caching of the verdict about one request or connection. */
export interface Cached {
  /** The key of the cached verdict. */
  readonly key?: readonly unknown[] | undefined;
  /** Returns how long the verdict is cached, after it was applied; absent if its cache has a fixed time. */
  readonly lifetime?: (() => unknown) | undefined;
}

/**
 * Returns the verdict from the cache, if there is one, or from the server, and a function that caches what this caller has
 * asked for.
 */
export async function cachedVerdict(
  cache: VerdictCache | undefined,
  { key, lifetime }: Cached,
  ask: Ask,
  onAbort: OnAbort,
): Promise<{ found: AuthorizationVerdict | NoVerdict; keep: () => void }> {
  if (cache === undefined || key === undefined)
    return { found: await ask(onAbort), keep: () => {} };
  let isAsker = false;
  const askAsOne: Ask = (whenAllLeft) => {
    isAsker = true;
    return ask(whenAllLeft);
  };
  const found = await cache.verdict(key, askAsOne, onAbort);
  const keep = () => {
    if (isAsker && found.kind === "verdict" && lifetime !== undefined)
      cache.keep(key, found, lifetime());
  };
  return { found, keep };
}

/** A cache of verdicts by key. At most one question per key is in flight; failures are not cached. */
class VerdictCache {
  readonly #settings: VerdictCacheSettings;
  readonly #entries = new Map<string, Entry>();
  readonly #asking = new Map<string, Question>();

  constructor(settings: VerdictCacheSettings) {
    this.#settings = settings;
  }

  /**
   * Returns the verdict for the values of a key. If a value failed, the server is always asked. `onAbort` belongs to the
   * waiting request.
   */
  async verdict(
    values: readonly unknown[],
    ask: Ask,
    onAbort: OnAbort,
  ): Promise<AuthorizationVerdict | NoVerdict> {
    const key = keyOf(values);
    if (key === undefined) return ask(onAbort);
    const entry = this.#entries.get(key);
    const age = entry === undefined ? 0 : performance.now() - entry.askedAt;
    if (entry === undefined || age >= entry.ttl) return this.#ask(key, ask, onAbort);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // Later requests need the renewal, so it is not aborted with this one. If it fails, the verdict is used until it
    // expires.
    const { ttl } = this.#settings;
    if (ttl !== undefined && age > ttl * RENEWED_AFTER)
      this.#ask(key, ask, () => {}).catch(() => {});
    return entry.verdict;
  }

  /** Caches a verdict for a duration, or until a time (seconds since 1970 if it is a number); not if the expression for it failed or the time is over. */
  keep(values: readonly unknown[], verdict: AuthorizationVerdict, lifetime: unknown): void {
    const key = keyOf(values);
    const ttl = lifetime instanceof Duration ? millisOf(lifetime) : millisUntil(lifetime);
    if (key === undefined || ttl === undefined || ttl <= 0) return;
    this.#keep(key, { verdict, askedAt: performance.now(), ttl });
  }

  #ask(key: string, ask: Ask, onAbort: OnAbort): Promise<AuthorizationVerdict | NoVerdict> {
    const question = this.#asking.get(key) ?? this.#begin(key, ask);
    question.waitFor(onAbort);
    return question.verdict;
  }

  #begin(key: string, ask: Ask): Question {
    const askedAt = performance.now();
    const question = new Question((onAbort) => {
      // A new request must not join the aborted question.
      onAbort(() => this.#forget(key, question));
      return ask(onAbort)
        .then((verdict) => {
          const { ttl } = this.#settings;
          if (verdict.kind === "verdict" && ttl !== undefined)
            this.#keep(key, { verdict, askedAt, ttl });
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

/** Returns the key of values; `undefined` if one of them failed. */
function keyOf(values: readonly unknown[]): string | undefined {
  const texts = values.map(fieldText);
  return texts.includes(undefined) ? undefined : JSON.stringify(texts);
}

/** A question in flight, shared by all requests that wait for its verdict. */
class Question {
  readonly verdict: Promise<AuthorizationVerdict | NoVerdict>;
  readonly #aborts: (() => void)[] = [];
  #waiting = 0;

  constructor(ask: Ask) {
    this.verdict = ask((abort) => this.#aborts.push(abort));
  }

  /** Adds a waiting request. When the last one leaves, the question is aborted. */
  waitFor(onAbort: OnAbort): void {
    this.#waiting += 1;
    onAbort(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) for (const abort of this.#aborts) abort();
    });
  }
}

export type { VerdictCache };
