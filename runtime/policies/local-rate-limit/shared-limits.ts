import { hash } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type KeyedRateLimit, keyedLimit, type RateLimit } from "../local-rate-limit.ts";
import type { BucketLimit, LimitBucket } from "./bucket.ts";
import { limitFacts } from "./limit-facts.ts";
import { SharedBucket } from "./shared-bucket.ts";
import { SharedUses } from "./shared-uses.ts";
import { interval, type Window } from "./windows.ts";

/** A limit that all threads of a process count together. */
export interface SharedRateLimitSettings extends Omit<BucketLimit, "window"> {
  /** Unique among the limits of the gateway. */
  readonly name: string;
  /** Milliseconds. */
  readonly interval: number;
  /** Its place in the configuration, for the log. */
  readonly origin: string;
  /** Says to clients that it is spent; absent: the rate is exceeded. */
  readonly spent?: string;
}

/** A shared limit with a bucket per caller. */
export interface SharedKeyedRateLimitSettings extends SharedRateLimitSettings {
  /** Maximum number of remembered callers; the least recently seen one is dropped. */
  readonly maxKeys: number;
}

/** Opens a limit that all requests on all threads share. */
export function openSharedRateLimit(settings: SharedRateLimitSettings): RateLimit {
  const limit = new SharedLimit(settings, 1);
  const key = digestOf("");
  return { ...limitFacts(settings), bucket: (gateway) => limit.bucket(gateway, key) };
}

/** Opens a limit per key. */
export function openSharedKeyedRateLimit(settings: SharedKeyedRateLimitSettings): KeyedRateLimit {
  const limit = new SharedLimit(settings, settings.maxKeys);
  const keyOf = (text: string): string => `=${text}`;
  return keyedLimit(settings, keyOf, (gateway, key) => limit.bucket(gateway, digestOf(key)));
}

class SharedLimit {
  readonly #name: string;
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  #uses: SharedUses | undefined;

  constructor({ name, interval: length, ...limit }: SharedRateLimitSettings, maxKeys: number) {
    this.#name = name;
    this.#limit = { ...limit, window: sharedInterval(length) };
    this.#maxKeys = maxKeys;
  }

  bucket({ threads }: GatewayContext, key: Buffer): LimitBucket {
    this.#uses ??= this.#open(threads);
    return new SharedBucket(this.#uses, key, this.#limit);
  }

  #open(threads: GatewayContext["threads"]): SharedUses {
    const bytes = SharedUses.bytes(this.#maxKeys);
    const memory = threads?.memory(this.#name, bytes) ?? new SharedArrayBuffer(bytes);
    return new SharedUses(memory, this.#maxKeys, threads?.index ?? 0);
  }
}

/** Returns intervals from the first request on, by a monotonic clock that all threads share. */
function sharedInterval(length: number): Window {
  return { ...interval(length), now: () => Number(process.hrtime.bigint()) / 1e6 };
}

function digestOf(key: string): Buffer {
  return hash("sha256", key, "buffer");
}
