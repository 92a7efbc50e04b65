import { warn } from "../../process/operator-warnings.ts";
import { MINUTE, SECOND } from "../../process/units.ts";

/** A value that is good for some time. */
export interface Expiring<Value> {
  readonly value: Value;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** How long before its end a value is fetched anew; one that is good for a shorter time, at half of it. */
const AHEAD = 5 * MINUTE;

/** The least time between two fetches when they fail. */
const PAUSE = 5 * SECOND;

/**
 * Credentials that a server gives out for some time: fetched for the first request that needs them, and again in the
 * background before they expire. However many requests wait, one fetch is made; one that fails keeps what is still good.
 */
export class ExpiringValue<Value> {
  readonly #what: string;
  readonly #fetch: () => Promise<Expiring<Value>>;
  #held: (Expiring<Value> & { readonly renewal: number }) | undefined;
  #pending: Promise<Value> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  /** `what` it is, for the log. `fetch` rejects with an Error that says what failed, without a secret. */
  constructor(what: string, fetch: () => Promise<Expiring<Value>>) {
    this.#what = what;
    this.#fetch = fetch;
  }

  /** Rejects when there is none to be had. */
  async current(): Promise<Value> {
    const now = Date.now();
    const held = this.#held;
    if (held === undefined || held.expires <= now) return this.#renewed(now);
    if (held.renewal <= now) {
      // The value of now is good; a failure was logged.
      this.#renewed(now).catch(() => {});
    }
    return held.value;
  }

  #renewed(now: number): Promise<Value> {
    if (this.#pending !== undefined) return this.#pending;
    if (this.#failure !== undefined && now < this.#failure.until) {
      return Promise.reject(this.#failure.error);
    }
    this.#pending = this.#attempt().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #attempt(): Promise<Value> {
    try {
      const fetched = await this.#fetch();
      this.#held = { ...fetched, renewal: renewalOf(fetched.expires, Date.now()) };
      this.#failure = undefined;
      return this.#held.value;
    } catch (error) {
      this.#failure = { error, until: Date.now() + PAUSE };
      const reason = error instanceof Error ? error.message : String(error);
      warn(`no ${this.#what}: ${reason}`);
      throw error;
    }
  }
}

function renewalOf(expires: number, now: number): number {
  const life = expires - now;
  return now + Math.max(life - AHEAD, life / 2);
}
