import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  type KeptKeyedRateLimitSettings,
  type KeptRateLimitSettings,
  type KeyedRateLimit,
  keyedLimit,
  limitFacts,
  type RateLimit,
} from "../local-rate-limit.ts";
import { type BucketLimit, countsUntil, type LimitBucket } from "./bucket.ts";
import { keptKey } from "./kept-file.ts";
import { tableDigest } from "./kept-tables.ts";
import { KeptUses } from "./kept-uses.ts";
import { SharedBucket } from "./shared-bucket.ts";
import { SharedUses } from "./shared-uses.ts";

/** Opens a limit that all requests on all threads share, across restarts. */
export function openSharedKeptRateLimit(settings: KeptRateLimitSettings): RateLimit {
  const limit = new SharedKeptLimit(settings, 1);
  return { ...limitFacts(settings), bucket: (gateway) => limit.bucket(gateway, "") };
}

/** Opens such a limit with a bucket per caller. */
export function openSharedKeptKeyedRateLimit(settings: KeptKeyedRateLimitSettings): KeyedRateLimit {
  const limit = new SharedKeptLimit(settings, settings.maxKeys);
  return keyedLimit(settings, keptKey, (gateway, key) => limit.bucket(gateway, key));
}

class SharedKeptLimit {
  readonly #name: string;
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  #uses: SharedUses | undefined;

  constructor({ name, ...limit }: KeptRateLimitSettings, maxKeys: number) {
    this.#name = name;
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  bucket(gateway: GatewayContext, key: string): LimitBucket {
    const { threads } = gateway;
    if (threads === undefined)
      return KeptUses.of(gateway).bucket(this.#name, key, this.#limit, this.#maxKeys);
    this.#uses ??= new SharedUses(
      threads.keptMemory(this.#name, this.#maxKeys),
      this.#maxKeys,
      threads.index,
    );
    const uses = this.#uses;
    return new SharedBucket(uses, tableDigest(key), this.#limit, (use) => {
      use.until = countsUntil(this.#limit, use);
      uses.change();
    });
  }
}
