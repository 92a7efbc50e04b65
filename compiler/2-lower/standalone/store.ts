import type { StoreValue } from "../../1-parse/standalone/store.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { RedisResource } from "../../ir/store.ts";
import type { MountedFile, Text } from "../../model/texts.ts";

/** Reads `store`; `origin` is its place. Returns `undefined` if there is none. */
export function readStore(
  value: StoreValue | undefined,
  origin: Origin,
): RedisResource | undefined {
  return value && redisNode(value.redis, value.redis.url, childOf(origin, "redis"));
}

/** Returns the settings of Redis. */
export function redisNode(
  { prefix, cluster, sentinel }: Omit<StoreValue["redis"], "url">,
  url: Text | MountedFile,
  origin: Origin,
): RedisResource {
  return {
    kind: "redis",
    url,
    prefix,
    isCluster: cluster ?? false,
    sentinelName: sentinel,
    origin,
  };
}
