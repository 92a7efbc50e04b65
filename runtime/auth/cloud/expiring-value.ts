import { warn } from "../../process/operator-warnings.ts";
import { MINUTE, SECOND } from "../../process/units.ts";

/** A value with an expiry. */
export interface Expiring<Value> {
  readonly value: Value;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Time before its expiry when a value is renewed; values with a short lifetime are renewed at half of it. */
const RENEWAL_MARGIN = 5 * MINUTE;

/** Minimum time between two failing attempts. */
const PAUSE = 5 * SECOND;

/**
 * Credentials with an expiry, fetched for the first request that needs them, and renewed in the background. Concurrent
 * requests share one attempt; when renewing fails, a value that is still valid remains in use.
 */
export class ExpiringValue<Value> {
  readonly #what: string;
  readonly #fetch: () => Promise<Expiring<Value>>;
  #held: (Expiring<Value> & { readonly renewal: number }) | undefined;
  #pending: Promise<Value> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  /** `what`: description for the log. `fetch` rejects with an Error whose message has no secrets. */
  constructor(what: string, fetch: () => Promise<Expiring<Value>>) {
    this.#what = what;
    this.#fetch = fetch;
  }

  /** Rejects if no value can be fetched. */
  async current(): Promise<Value> {
    const now = Date.now();
    const held = this.#held;
    if (held === undefined || held.expires <= now) return this.#renewed(now);
    if (held.renewal <= now) {
      // The current value is still valid, and a failure is logged.
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
  return now + Math.max(life - RENEWAL_MARGIN, life / 2);
}
