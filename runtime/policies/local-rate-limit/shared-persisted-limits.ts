import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  type KeyedRateLimit,
  keyedLimit,
  limitFacts,
  type PersistedKeyedRateLimitSettings,
  type PersistedRateLimitSettings,
  type RateLimit,
} from "../local-rate-limit.ts";
import { type BucketLimit, countsUntil, type LimitBucket } from "./bucket.ts";
import { persistedKey } from "./limits-file.ts";
import { tableDigest } from "./persisted-tables.ts";
import { PersistedUses } from "./persisted-uses.ts";
import { SharedBucket } from "./shared-bucket.ts";
import { SharedUses } from "./shared-uses.ts";

/** Opens a limit that all requests on all threads share, across restarts. */
export function openSharedPersistedRateLimit(settings: PersistedRateLimitSettings): RateLimit {
  const limit = new SharedPersistedLimit(settings, 1);
  return { ...limitFacts(settings), bucket: (gateway) => limit.bucket(gateway, "") };
}

/** Opens such a limit with a bucket per caller. */
export function openSharedPersistedKeyedRateLimit(
  settings: PersistedKeyedRateLimitSettings,
): KeyedRateLimit {
  const limit = new SharedPersistedLimit(settings, settings.maxKeys);
  return keyedLimit(settings, persistedKey, (gateway, key) => limit.bucket(gateway, key));
}

class SharedPersistedLimit {
  readonly #name: string;
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  #uses: SharedUses | undefined;

  constructor({ name, ...limit }: PersistedRateLimitSettings, maxKeys: number) {
    this.#name = name;
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  bucket(gateway: GatewayContext, key: string): LimitBucket {
    const { threads } = gateway;
    if (threads === undefined)
      return PersistedUses.of(gateway).bucket(this.#name, key, this.#limit, this.#maxKeys);
    this.#uses ??= new SharedUses(
      threads.persistedMemory(this.#name, this.#maxKeys),
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
