import { fieldText } from "../../cel/values/field-text.ts";
import { askBeforeCall, type Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { BucketShape, Buckets } from "../../store/buckets.ts";
import type { KeyedRateLimit } from "../local-rate-limit.ts";
import { applyingLimits } from "../model-calls.ts";
import type { LimitBucket } from "./bucket.ts";
import { bucketAccount, type CallAccount, type CallCost, CallCounter } from "./call-counter.ts";
import type { LeasedLimit, LimitLease, StoreFailure, TakeResult } from "./lease.ts";
import { Leases } from "./leases.ts";
import { type LimitFacts, limitFacts, refuseFor } from "./limit-facts.ts";
import { persistedKey } from "./limits-file.ts";
import { calendarDays, calendarMonths, interval } from "./windows.ts";

/** Settings of a limit that replicas share. */
export interface StoredRateLimitSettings extends BucketShape {
  /** Unique among the limits of the gateway. */
  readonly name: string;
  /** Whether each request asks the store; otherwise replicas take slices in advance. */
  readonly isStrict: boolean;
  readonly onStoreFailure: StoreFailure;
  /** Maximum number of callers with a lease; the least recently seen one gives it back. 1 without a key. */
  readonly maxKeys: number;
  /** Its place in the configuration, for the log. */
  readonly origin: string;
  /** Says to clients that it is spent; absent: the rate is exceeded. */
  readonly spent?: string;
}

/** Opens a limit that replicas share. `local` counts instead if the gateway was started without their store. */
export function openStoredRateLimit(
  settings: StoredRateLimitSettings,
  local?: Pick<KeyedRateLimit, "bucket">,
): StoredRateLimit {
  return new StoredRateLimit(settings, local);
}

/** A limit of this request: of a caller, or of all together. */
export interface LimitUse {
  readonly limit: StoredRateLimit;
  readonly key: unknown;
  readonly counts: "requests" | "tokens";
  readonly cost?: CallCost | undefined;
}

/** Returns the use of a limit of requests. `key`: its caller; absent if the limit is that of all. */
export function useOfRequests(limit: StoredRateLimit, key?: unknown): LimitUse {
  return { limit, key, counts: "requests" };
}

/** Returns the use of a limit of tokens. `cost`: by default all tokens of a call. */
export function useOfTokens(limit: StoredRateLimit, key?: unknown, cost?: CallCost): LimitUse {
  return { limit, key, counts: "tokens", cost };
}

/**
 * Takes from limits that replicas share, with all questions to the store at once. If one has nothing left, refuses the request
 * with 429, takes nothing from the others, and returns true. Model calls are charged when they end.
 */
export function refuseOverStoredLimits(
  exchange: Exchange,
  all: readonly LimitUse[],
): MaybePromise<boolean> {
  const uses = applyingLimits(exchange, all);
  const takers = uses.map((use) => use.limit.taker(exchange.gateway, use.key));
  const verdicts = takers.map((taker, index) =>
    taker.take(uses[index]?.counts === "requests" ? 1 : 0),
  );
  const isKnown = verdicts.every((verdict) => verdict === 0);
  return thenMaybe(isKnown ? [] : Promise.all(verdicts), (found: readonly TakeResult[]) => {
    const refused = found.findIndex((verdict) => verdict !== 0);
    for (const [index, { limit, counts, cost }] of uses.entries()) {
      const taker = takers[index];
      if (taker === undefined) continue;
      if (refused >= 0) {
        if (counts === "requests" && found[index] === 0) taker.undo();
      } else if (counts === "tokens") {
        const account = taker.account((verdict) => refuseBy(exchange, verdict, limit.facts));
        exchange.record.tokenCounters ??= [];
        exchange.record.tokenCounters.push(new CallCounter(exchange, account, limit.facts, cost));
      }
    }
    const [use, verdict] = [uses[refused], found[refused]];
    return use !== undefined && verdict !== undefined
      ? refuseBy(exchange, verdict, use.limit.facts)
      : false;
  });
}

/** Registers token limits before routing; they apply if the request turns out to be for a model. */
export function limitStoredTokensOfCalls(exchange: Exchange, uses: readonly LimitUse[]): void {
  askBeforeCall(exchange, async () => !(await refuseOverStoredLimits(exchange, uses)));
}

/** Access of one request to a limit. */
interface Taker {
  take(amount: 0 | 1): MaybePromise<TakeResult>;
  /** Gives the 1 back. */
  undo(): void;
  /** Returns the account of its calls. `refuse` answers the request. */
  account(refuse: (verdict: TakeResult) => true): CallAccount;
}

/** A limit that replicas share. */
class StoredRateLimit {
  readonly facts: LimitFacts;
  readonly #name: string;
  readonly #limit: LeasedLimit;
  readonly #maxKeys: number;
  readonly #local: Pick<KeyedRateLimit, "bucket"> | undefined;
  #buckets: Buckets | undefined;
  /** By the text of the key, most recently used last. */
  readonly #leases = new Map<string, LimitLease>();

  constructor(
    settings: StoredRateLimitSettings,
    local: Pick<KeyedRateLimit, "bucket"> | undefined,
  ) {
    const { name, isStrict, onStoreFailure, maxKeys, capacity, refill, window, isWhole } = settings;
    this.facts = limitFacts(settings);
    // Another interval is another limit: its windows begin at other times.
    this.#name = `${name}:${window}`;
    const shape = { capacity, refill, window, isWhole };
    this.#limit = { shape, window: windowOf(shape), isStrict, onStoreFailure };
    this.#maxKeys = maxKeys;
    this.#local = local;
  }

  /** Returns what a request takes from it. Callers without a key (a failed expression) share a bucket. */
  taker(gateway: GatewayContext, key: unknown): Taker {
    const buckets = gateway.store?.buckets;
    if (buckets !== undefined) return new LeaseTaker(this.#lease(buckets, gateway, key));
    if (this.#local === undefined) throw new Error("a shared limit has no store");
    return bucketTaker(this.#local.bucket(gateway, key));
  }

  #lease(buckets: Buckets, gateway: GatewayContext, key: unknown): LimitLease {
    if (buckets !== this.#buckets) {
      this.#buckets = buckets;
      this.#leases.clear();
    }
    const text = fieldText(key) ?? "";
    const known = this.#leases.get(text);
    if (known !== undefined && this.#maxKeys === 1) return known;
    const lease = known ?? Leases.of(buckets, gateway).open(this.#bucketOf(text), this.#limit);
    if (!this.#leases.delete(text) && this.#leases.size >= this.#maxKeys) this.#closeOldest();
    this.#leases.set(text, lease);
    return lease;
  }

  #bucketOf(key: string): string {
    return this.#maxKeys === 1 ? this.#name : `${this.#name}:${key && persistedKey(key)}`;
  }

  #closeOldest(): void {
    const [oldest] = this.#leases;
    if (oldest === undefined) return;
    this.#leases.delete(oldest[0]);
    void oldest[1].close();
  }
}

class LeaseTaker implements Taker {
  readonly #lease: LimitLease;
  /** Start of the window in which it took. */
  #start = 0;

  constructor(lease: LimitLease) {
    this.#lease = lease;
  }

  take(amount: 0 | 1): MaybePromise<TakeResult> {
    return thenMaybe(this.#lease.take(amount), (verdict) => {
      this.#start = this.#lease.start;
      return verdict;
    });
  }

  undo(): void {
    this.#lease.giveBack(1, this.#start);
  }

  account(refuseRequest: (verdict: TakeResult) => true): CallAccount {
    const lease = this.#lease;
    let start: number | undefined;
    return {
      reserve: async (amount) => {
        const verdict = await lease.reserve(amount);
        if (verdict !== 0) return !refuseRequest(verdict);
        start = lease.start;
        return true;
      },
      settle: (reserved, used) => {
        if (start === undefined) lease.charge(used);
        else lease.settle(reserved, used, start);
        start = undefined;
      },
    };
  }
}

/** Takes from a bucket of this process. */
function bucketTaker(bucket: LimitBucket): Taker {
  return {
    take: (amount) => (amount === 0 ? bucket.wait() : bucket.take()),
    undo: () => bucket.charge(-1),
    account: (refuseRequest) => bucketAccount(bucket, refuseRequest),
  };
}

function windowOf({ window }: BucketShape) {
  if (window === "day") return calendarDays;
  if (window === "month") return calendarMonths;
  return interval(window);
}

function refuseBy(exchange: Exchange, verdict: TakeResult, facts: LimitFacts): true {
  if (verdict !== "away") return refuseFor(exchange, verdict, facts);
  refuse(exchange, 503, "StoreAway", "limits cannot be counted now", ["retry-after", "1"]);
  return true;
}
