import { hash } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  type KeyedRateLimit,
  keyedLimit,
  limitFacts,
  type RateLimit,
} from "../local-rate-limit.ts";
import type { BucketLimit, LimitBucket } from "./bucket.ts";
import { SharedBucket } from "./shared-bucket.ts";
import { SharedUses } from "./shared-uses.ts";
import { interval, type Window } from "./windows.ts";

/** A limit that all threads of a process count together. */
export interface SharedRateLimitSettings extends Omit<BucketLimit, "window"> {
  /** No other limit of the gateway has it. */
  readonly name: string;
  /** Milliseconds. */
  readonly interval: number;
  /** Where the configuration has it, for the log. */
  readonly origin: string;
}

/** The same with a bucket for each caller. */
export interface SharedKeyedRateLimitSettings extends SharedRateLimitSettings {
  /** Callers that are remembered; beyond it the one that was not seen for longest is forgotten. */
  readonly maxKeys: number;
}

/** A limit that all requests share, whichever thread has them. */
export function openSharedRateLimit(settings: SharedRateLimitSettings): RateLimit {
  const limit = new SharedLimit(settings, 1);
  const key = digestOf("");
  return { ...limitFacts(settings), bucket: (gateway) => limit.bucket(gateway, key) };
}

/** A limit for each key. */
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

/** Intervals from the first request on, by a clock that is the same in every thread and that nobody sets. */
function sharedInterval(length: number): Window {
  return { ...interval(length), now: () => Number(process.hrtime.bigint()) / 1e6 };
}

function digestOf(key: string): Buffer {
  return hash("sha256", key, "buffer");
}
