import { hash } from "node:crypto";
import { fieldText } from "../cel/values/field-text.ts";
import { numberOf } from "../cel/values/values.ts";
import type { LlmCall } from "../cel/variables.ts";
import { askBeforeCall, type Exchange, type TokenCounter } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { SECOND } from "../process/units.ts";
import { noteRateLimited } from "../telemetry/rate-limited.ts";
import { Bucket, type BucketLimit, type LimitBucket } from "./local-rate-limit/bucket.ts";
import { persistedKey } from "./local-rate-limit/limits-file.ts";
import { PersistedUses } from "./local-rate-limit/persisted-uses.ts";
import { interval } from "./local-rate-limit/windows.ts";

/** A token bucket: each request takes a token, and each interval adds some. */
export interface RateLimitSettings extends Omit<BucketLimit, "window"> {
  /** Milliseconds. */
  readonly interval: number;
  /** Its place in the configuration, for the log. */
  readonly origin: string;
  /** Says to clients that it is spent; absent: the rate is exceeded. */
  readonly spent?: string;
}

/** Settings of a limit with a bucket per caller. */
export interface KeyedRateLimitSettings extends RateLimitSettings {
  /** Maximum number of remembered callers; the least recently seen one is dropped. */
  readonly maxKeys: number;
}

/** Settings of a limit that a restart does not reset. */
export interface PersistedRateLimitSettings extends BucketLimit {
  /** The name of its persisted state, unique among the limits of the gateway. */
  readonly name: string;
  /** Its place in the configuration, for the log. */
  readonly origin: string;
  /** Says to clients that it is spent; absent: the rate is exceeded. */
  readonly spent?: string;
}

/** Settings of such a limit with a bucket per caller. */
export interface PersistedKeyedRateLimitSettings extends PersistedRateLimitSettings {
  /** Maximum number of remembered callers; the least recently seen one is dropped. */
  readonly maxKeys: number;
}

/** The parts of a limit that are independent of the caller. */
interface LimitFacts {
  readonly capacity: number;
  readonly origin: string;
  readonly spent?: string | undefined;
  /** Models, as clients name them, whose calls had no cost; each is logged once. */
  readonly unpriced: Set<string>;
}

/** A limit that all requests share. */
export interface RateLimit extends LimitFacts {
  bucket(gateway: GatewayContext): LimitBucket;
}

/** A limit per key. */
export interface KeyedRateLimit extends LimitFacts {
  /** Returns the bucket of a key. Callers without one (a failed expression) share a bucket. */
  bucket(gateway: GatewayContext, key: unknown): LimitBucket;
}

/** Opens a limit that all requests share, in memory. */
export function openRateLimit({ interval: length, ...settings }: RateLimitSettings): RateLimit {
  const bucket = new Bucket({ ...settings, window: interval(length) });
  return { ...limitFacts(settings), bucket: () => bucket };
}

/** Opens a limit per key, in memory. */
export function openKeyedRateLimit(settings: KeyedRateLimitSettings): KeyedRateLimit {
  return new MemoryLimit(settings);
}

/** Opens a limit that all requests share, across restarts. */
export function openPersistedRateLimit({ name, ...limit }: PersistedRateLimitSettings): RateLimit {
  return {
    ...limitFacts(limit),
    bucket: (gateway) => PersistedUses.of(gateway).bucket(name, "", limit, 1),
  };
}

/** Opens a limit per key that a restart does not reset. Only hashes of the keys are persisted. */
export function openPersistedKeyedRateLimit({
  name,
  maxKeys,
  ...limit
}: PersistedKeyedRateLimitSettings): KeyedRateLimit {
  return keyedLimit(limit, persistedKey, (gateway, key) =>
    PersistedUses.of(gateway).bucket(name, key, limit, maxKeys),
  );
}

/**
 * Returns a limit whose buckets are found by the result of `keyFor`, which is never empty. The bucket of the empty key
 * belongs to callers without a key.
 */
export function keyedLimit(
  settings: Omit<LimitFacts, "unpriced">,
  keyFor: (text: string) => string,
  bucketOf: (gateway: GatewayContext, key: string) => LimitBucket,
): KeyedRateLimit {
  return {
    ...limitFacts(settings),
    bucket: (gateway, value) => {
      const text = fieldText(value);
      return bucketOf(gateway, text === undefined ? "" : keyFor(text));
    },
  };
}

/** Takes a token; if none is left, refuses the request with 429 and returns true. */
export function refuseOverLimit(exchange: Exchange, limit: RateLimit): boolean {
  return refuseEmpty(exchange, limit.bucket(exchange.gateway), limit);
}

/** Does the same with the bucket of a key. */
export function refuseOverKeyedLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
): boolean {
  return refuseEmpty(exchange, limit.bucket(exchange.gateway, key), limit);
}

/** Returns the cost of a model call: its tokens, or the value of an expression. */
export type CallCost = (call: LlmCall) => unknown;

/**
 * Refuses the request with 429 and returns true if no model token is left. The usage of the request is counted when it
 * ends, so the limit applies to later requests. `cost`: by default all tokens of a call.
 */
export function refuseOverTokenLimit(
  exchange: Exchange,
  limit: RateLimit,
  cost?: CallCost,
): boolean {
  return refuseSpent(exchange, limit.bucket(exchange.gateway), limit, cost);
}

/** Does the same with the bucket of a key. */
export function refuseOverKeyedTokenLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
  cost?: CallCost,
): boolean {
  return refuseSpent(exchange, limit.bucket(exchange.gateway, key), limit, cost);
}

/** Registers a token limit before routing; it applies if the request turns out to be for a model. */
export function limitTokensOfCalls(exchange: Exchange, limit: RateLimit, cost?: CallCost): void {
  askBeforeCall(exchange, () => !refuseOverTokenLimit(exchange, limit, cost));
}

/** Does the same with the bucket of a key. */
export function limitKeyedTokensOfCalls(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
  cost?: CallCost,
): void {
  askBeforeCall(exchange, () => !refuseOverKeyedTokenLimit(exchange, limit, key, cost));
}

/** Buckets by key, most recently used last. */
class MemoryLimit implements KeyedRateLimit {
  readonly capacity: number;
  readonly origin: string;
  readonly spent: string | undefined;
  readonly unpriced = new Set<string>();
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ interval: length, maxKeys, ...settings }: KeyedRateLimitSettings) {
    this.capacity = settings.capacity;
    this.origin = settings.origin;
    this.spent = settings.spent;
    this.#limit = { ...settings, window: interval(length) };
    this.#maxKeys = maxKeys;
  }

  bucket(_: GatewayContext, value: unknown): Bucket {
    const key = keyOf(value);
    const bucket = this.#buckets.get(key) ?? new Bucket(this.#limit);
    if (!this.#buckets.delete(key) && this.#buckets.size >= this.#maxKeys) this.#forgetOldest();
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #forgetOldest(): void {
    const { value } = this.#buckets.keys().next();
    if (value !== undefined) this.#buckets.delete(value);
  }
}

/** Maximum length of a key that is stored as it is; longer ones are stored as digests. */
const MAX_KEY = 64;

/** Returns the key as a string; callers without one get the empty string, which no key has. */
function keyOf(value: unknown): string {
  const text = fieldText(value);
  if (text === undefined) return "";
  return text.length <= MAX_KEY ? `=${text}` : `#${digest(text)}`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url");
}

function refuseEmpty(exchange: Exchange, bucket: LimitBucket, limit: LimitFacts): boolean {
  const wait = bucket.take();
  return wait > 0 && refuseFor(exchange, wait, limit);
}

function refuseSpent(
  exchange: Exchange,
  bucket: LimitBucket,
  limit: LimitFacts,
  cost: CallCost | undefined,
): boolean {
  const wait = bucket.wait();
  if (wait > 0) return refuseFor(exchange, wait, limit);
  const counter = new BucketCounter(exchange, bucket, limit, cost);
  exchange.record.tokenCounters ??= [];
  exchange.record.tokenCounters.push(counter);
  return false;
}

/** Charges the usage of one request to a bucket. */
class BucketCounter implements TokenCounter {
  readonly #exchange: Exchange;
  readonly #bucket: LimitBucket;
  readonly #limit: LimitFacts;
  readonly #cost: CallCost;
  /** The amount that was charged in advance. */
  #expected = 0;

  constructor(
    exchange: Exchange,
    bucket: LimitBucket,
    limit: LimitFacts,
    cost: CallCost = ({ totalTokens }) => totalTokens,
  ) {
    this.#exchange = exchange;
    this.#bucket = bucket;
    this.#limit = limit;
    this.#cost = cost;
  }

  expect(call: LlmCall): boolean {
    // The expression may depend on values that are not known yet; nothing is charged in advance then.
    const amount = this.#amount(call) ?? 0;
    const wait = this.#bucket.waitFor(amount);
    if (wait > 0) return !refuseFor(this.#exchange, wait, this.#limit);
    this.#bucket.charge(amount);
    this.#expected += amount;
    return true;
  }

  count(call: LlmCall): void {
    const amount = this.#amount(call);
    if (amount === undefined) this.#warn(call.requestModel ?? call.responseModel ?? "");
    this.#bucket.charge((amount ?? 0) - this.#expected);
    this.#expected = 0;
  }

  release(): void {
    this.#bucket.charge(-this.#expected);
    this.#expected = 0;
  }

  /** Returns the cost; `undefined` if it failed or is not a non-negative number. */
  #amount(call: LlmCall): number | undefined {
    const amount = Number(numberOf(this.#cost(call)) ?? Number.NaN);
    return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
  }

  /** Warns once per model. Clients choose the names, so their number is limited. */
  #warn(model: string): void {
    const { unpriced } = this.#limit;
    if (unpriced.has(model) || unpriced.size >= MAX_UNPRICED) return;
    unpriced.add(model);
    const { gateway, record } = this.#exchange;
    const name = JSON.stringify(model.slice(0, MAX_KEY));
    gateway.warn(`did not count a call of ${name} on route ${record.route}: it has no cost`);
  }
}

/** Maximum number of models without a price that are logged. */
const MAX_UNPRICED = 100;

/** Returns the parts of a limit that are independent of the caller. */
export function limitFacts({ capacity, origin, spent }: Omit<LimitFacts, "unpriced">): LimitFacts {
  return { capacity, origin, spent, unpriced: new Set() };
}

function refuseFor(
  exchange: Exchange,
  wait: number,
  { capacity, origin, spent }: LimitFacts,
): true {
  noteRateLimited(exchange, "localRateLimit", origin);
  const seconds = String(Math.max(1, Math.ceil(wait / 1000)));
  const message =
    spent === undefined ? "rate limit exceeded" : `${spent}; it resets at ${resetTime(wait)}`;
  refuse(exchange, 429, "RateLimit", message, [
    "x-ratelimit-limit",
    String(capacity),
    "x-ratelimit-remaining",
    "0",
    "x-ratelimit-reset",
    seconds,
    "retry-after",
    seconds,
  ]);
  return true;
}

/** Returns the time after a wait as ISO 8601, in whole seconds. */
function resetTime(wait: number): string {
  const time = Math.ceil((Date.now() + wait) / SECOND) * SECOND;
  return new Date(time).toISOString().replace(".000Z", "Z");
}
