import { hash } from "node:crypto";
import { fieldText } from "../cel/values/field-text.ts";
import { numberOf } from "../cel/values/values.ts";
import type { LlmCall } from "../cel/variables.ts";
import { askBeforeCall, type Exchange, type TokenCounter } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { noteRateLimited } from "../telemetry/rate-limited.ts";
import { Bucket, type BucketLimit, type LimitBucket } from "./local-rate-limit/bucket.ts";
import { keptKey } from "./local-rate-limit/kept-file.ts";
import { KeptUses } from "./local-rate-limit/kept-uses.ts";
import { interval } from "./local-rate-limit/windows.ts";

/** A token bucket: each request takes a token, and each interval brings some back. */
export interface RateLimitSettings extends Omit<BucketLimit, "window"> {
  /** Milliseconds. */
  readonly interval: number;
  /** Where the configuration has it, for the log. */
  readonly origin: string;
}

/** A bucket for each caller. */
export interface KeyedRateLimitSettings extends RateLimitSettings {
  /** Callers that are remembered; beyond it the one that was not seen for longest is forgotten. */
  readonly maxKeys: number;
}

/** A limit that a restart does not reset. */
export interface KeptRateLimitSettings extends BucketLimit {
  /** What its state is written down as: no other limit of the gateway has it. */
  readonly name: string;
  /** As of a limit that is not kept. */
  readonly origin: string;
}

/** The same with a bucket for each caller. */
export interface KeptKeyedRateLimitSettings extends KeptRateLimitSettings {
  /** As of a limit that is not kept. */
  readonly maxKeys: number;
}

/** What is known of a limit whoever asks. */
interface LimitFacts {
  readonly capacity: number;
  readonly origin: string;
  /** Models, as clients name them, whose calls had no cost: the operator hears of each once. */
  readonly unpriced: Set<string>;
}

/** A limit that all requests share. */
export interface RateLimit extends LimitFacts {
  bucket(gateway: GatewayContext): LimitBucket;
}

/** A limit for each key. */
export interface KeyedRateLimit extends LimitFacts {
  /** That of a key. Callers without one (an expression that fails) share one. */
  bucket(gateway: GatewayContext, key: unknown): LimitBucket;
}

/** A limit that all requests share, in memory. */
export function openRateLimit({ interval: length, ...settings }: RateLimitSettings): RateLimit {
  const bucket = new Bucket({ ...settings, window: interval(length) });
  return { ...limitFacts(settings), bucket: () => bucket };
}

/** A limit for each key, in memory. */
export function openKeyedRateLimit(settings: KeyedRateLimitSettings): KeyedRateLimit {
  return new MemoryLimit(settings);
}

/** A limit that all requests share, also those before a restart. */
export function openKeptRateLimit({ name, ...limit }: KeptRateLimitSettings): RateLimit {
  return {
    ...limitFacts(limit),
    bucket: (gateway) => KeptUses.of(gateway).bucket(name, "", limit, 1),
  };
}

/** A limit for each key that a restart does not reset. What keys say is not written down, only a hash of it. */
export function openKeptKeyedRateLimit({
  name,
  maxKeys,
  ...limit
}: KeptKeyedRateLimitSettings): KeyedRateLimit {
  return keyedLimit(limit, keptKey, (gateway, key) =>
    KeptUses.of(gateway).bucket(name, key, limit, maxKeys),
  );
}

/**
 * A limit whose buckets are found by what `keyFor` makes of a key's text, which is never empty; the bucket of the empty one is
 * that of callers without a key.
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

/** True: no token was left, and the request was answered with 429. */
export function refuseOverLimit(exchange: Exchange, limit: RateLimit): boolean {
  return refuseEmpty(exchange, limit.bucket(exchange.gateway), limit);
}

/** The same for the bucket of a key. */
export function refuseOverKeyedLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
): boolean {
  return refuseEmpty(exchange, limit.bucket(exchange.gateway, key), limit);
}

/** What a call takes of a limit: its tokens, or what an expression makes of them. */
export type CallCost = (call: LlmCall) => unknown;

/**
 * True: no token of models was left, and the request was answered with 429. What the request uses is counted when it is
 * over, so a limit holds for the requests after it. `cost`: what it takes, by default all of its tokens.
 */
export function refuseOverTokenLimit(
  exchange: Exchange,
  limit: RateLimit,
  cost?: CallCost,
): boolean {
  return refuseSpent(exchange, limit.bucket(exchange.gateway), limit, cost);
}

/** The same for the bucket of a key. */
export function refuseOverKeyedTokenLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
  cost?: CallCost,
): boolean {
  return refuseSpent(exchange, limit.bucket(exchange.gateway, key), limit, cost);
}

/** A limit of tokens before the route is chosen: it holds for requests that turn out to be for a model. */
export function limitTokensOfCalls(exchange: Exchange, limit: RateLimit, cost?: CallCost): void {
  askBeforeCall(exchange, () => !refuseOverTokenLimit(exchange, limit, cost));
}

/** The same for the bucket of a key. */
export function limitKeyedTokensOfCalls(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
  cost?: CallCost,
): void {
  askBeforeCall(exchange, () => !refuseOverKeyedTokenLimit(exchange, limit, key, cost));
}

/** Buckets by key, the one that was used last at the end. */
class MemoryLimit implements KeyedRateLimit {
  readonly capacity: number;
  readonly origin: string;
  readonly unpriced = new Set<string>();
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ interval: length, maxKeys, ...settings }: KeyedRateLimitSettings) {
    this.capacity = settings.capacity;
    this.origin = settings.origin;
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

/** Characters of a key that are kept as they are: a table of long ones would be large. */
const MAX_KEY = 64;

/** A text that no key has stands for none. */
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

/** Takes what one request uses out of a bucket. */
class BucketCounter implements TokenCounter {
  readonly #exchange: Exchange;
  readonly #bucket: LimitBucket;
  readonly #limit: LimitFacts;
  readonly #cost: CallCost;
  /** What was taken before it was known. */
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
    // What its cost depends on may not be known yet: then nothing is expected.
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

  /** Undefined: the cost fails, or is none. */
  #amount(call: LlmCall): number | undefined {
    const amount = Number(numberOf(this.#cost(call)) ?? Number.NaN);
    return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
  }

  /** Clients name models: not every name may fill the log. */
  #warn(model: string): void {
    const { unpriced } = this.#limit;
    if (unpriced.has(model) || unpriced.size >= MAX_UNPRICED) return;
    unpriced.add(model);
    const { gateway, record } = this.#exchange;
    const name = JSON.stringify(model.slice(0, MAX_KEY));
    gateway.warn(`a call of ${name} on route ${record.route} has no cost: it was not counted`);
  }
}

/** Models without a price that the operator hears of. */
const MAX_UNPRICED = 100;

/** What is known of a limit before anything is taken from it. */
export function limitFacts({ capacity, origin }: Omit<LimitFacts, "unpriced">): LimitFacts {
  return { capacity, origin, unpriced: new Set() };
}

function refuseFor(exchange: Exchange, wait: number, { capacity, origin }: LimitFacts): true {
  noteRateLimited(exchange, "localRateLimit", origin);
  const seconds = String(Math.max(1, Math.ceil(wait / 1000)));
  refuse(exchange, 429, "RateLimit", "rate limit exceeded", [
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
