import { hash } from "node:crypto";
import { fieldText } from "../cel/values/field-text.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { noteRateLimited } from "../telemetry/rate-limited.ts";

/** A token bucket: each request takes a token, and each interval brings some back. */
export interface RateLimitSettings {
  /** Tokens that it holds at most, and at first. */
  readonly capacity: number;
  /** Tokens that each interval brings. */
  readonly refill: number;
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

/** A limit that all requests share. */
export function openRateLimit(settings: RateLimitSettings): RateLimit {
  return new RateLimit(settings);
}

/** A limit for each key. */
export function openKeyedRateLimit(settings: KeyedRateLimitSettings): KeyedRateLimit {
  return new KeyedRateLimit(settings);
}

/** True: no token was left, and the request was answered with 429. */
export function refuseOverLimit(exchange: Exchange, limit: RateLimit): boolean {
  const wait = limit.take(performance.now());
  return wait > 0 && refuseFor(exchange, wait, limit.settings);
}

/** The same for the bucket of a key. Callers without a key (an expression that fails) share one. */
export function refuseOverKeyedLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
): boolean {
  const wait = limit.take(key, performance.now());
  return wait > 0 && refuseFor(exchange, wait, limit.settings);
}

/**
 * True: no token of models was left, and the request was answered with 429. What the request uses is counted when it is
 * over, so a limit holds for the requests after it.
 */
export function refuseOverTokenLimit(exchange: Exchange, limit: RateLimit): boolean {
  const wait = limit.wait(performance.now());
  if (wait > 0) return refuseFor(exchange, wait, limit.settings);
  exchange.record.tokenCounters ??= [];
  exchange.record.tokenCounters.push((tokens) => limit.charge(tokens, performance.now()));
  return false;
}

/** The same for the bucket of a key. */
export function refuseOverKeyedTokenLimit(
  exchange: Exchange,
  limit: KeyedRateLimit,
  key: unknown,
): boolean {
  return refuseOverTokenLimit(exchange, limit.bucket(key));
}

/** One bucket, refilled when it is looked at. */
class RateLimit {
  readonly settings: RateLimitSettings;
  #tokens: number;
  /** When the interval that runs began; the first request starts it. */
  #since = Number.NaN;

  constructor(settings: RateLimitSettings) {
    this.settings = settings;
    this.#tokens = settings.capacity;
  }

  /** Takes a token: 0; or there is none: the milliseconds until the next ones come. */
  take(now: number): number {
    const wait = this.wait(now);
    if (wait === 0) this.#tokens -= 1;
    return wait;
  }

  /** 0: there is a token; or the milliseconds until there is one. */
  wait(now: number): number {
    this.#refill(now);
    if (this.#tokens > 0) return 0;
    const { refill, interval } = this.settings;
    const missing = Math.ceil((1 - this.#tokens) / refill);
    return this.#since + missing * interval - now;
  }

  /** Takes tokens that have been used: what the bucket does not hold is owed. */
  charge(tokens: number, now: number): void {
    this.#refill(now);
    this.#tokens -= tokens;
  }

  #refill(now: number): void {
    const { capacity, refill, interval } = this.settings;
    if (Number.isNaN(this.#since)) this.#since = now;
    const intervals = Math.floor((now - this.#since) / interval);
    if (intervals <= 0) return;
    this.#since += intervals * interval;
    this.#tokens = Math.min(capacity, this.#tokens + intervals * refill);
  }
}

/** Buckets by key, the one that was used last at the end. */
class KeyedRateLimit {
  readonly settings: KeyedRateLimitSettings;
  readonly #buckets = new Map<string, RateLimit>();

  constructor(settings: KeyedRateLimitSettings) {
    this.settings = settings;
  }

  take(value: unknown, now: number): number {
    return this.bucket(value).take(now);
  }

  bucket(value: unknown): RateLimit {
    const key = keyOf(value);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= this.settings.maxKeys) this.#forgetOldest();
      bucket = new RateLimit(this.settings);
    } else {
      this.#buckets.delete(key);
    }
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #forgetOldest(): void {
    const { value } = this.#buckets.keys().next();
    if (value !== undefined) this.#buckets.delete(value);
  }
}

export type { KeyedRateLimit, RateLimit };

/** Characters of a key that are kept as they are: a table of long ones would be large. */
const longestKey = 64;

/** A text that no key has stands for none. */
function keyOf(value: unknown): string {
  const text = fieldText(value);
  if (text === undefined) return "";
  return text.length <= longestKey ? `=${text}` : `#${hash("sha256", text, "base64")}`;
}

function refuseFor(
  exchange: Exchange,
  wait: number,
  { capacity, origin }: RateLimitSettings,
): true {
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
