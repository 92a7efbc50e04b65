import { hash } from "node:crypto";
import { fieldText } from "../cel/values/field-text.ts";
import { askBeforeCall, type Exchange } from "../http/exchange.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { Bucket, type BucketLimit, type LimitBucket } from "./local-rate-limit/bucket.ts";
import { bucketAccount, type CallCost, CallCounter } from "./local-rate-limit/call-counter.ts";
import { type LimitFacts, limitFacts, refuseFor } from "./local-rate-limit/limit-facts.ts";
import { persistedKey } from "./local-rate-limit/limits-file.ts";
import { PersistedUses } from "./local-rate-limit/persisted-uses.ts";
import { interval } from "./local-rate-limit/windows.ts";
import { mayCallModel } from "./model-calls.ts";

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
  if (!mayCallModel(exchange)) return false;
  const wait = bucket.wait();
  if (wait > 0) return refuseFor(exchange, wait, limit);
  const account = bucketAccount(bucket, (until) => refuseFor(exchange, until, limit));
  exchange.record.tokenCounters ??= [];
  exchange.record.tokenCounters.push(new CallCounter(exchange, account, limit, cost));
  return false;
}
