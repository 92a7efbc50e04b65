import type { RedisConfig } from "./redis-client.ts";
import { redisStore } from "./redis-store.ts";
import type { StoreSource } from "./store-source.ts";

/**
 * Names the store in Redis or Valkey if its URL is not empty; otherwise another one, or none: replicas then share nothing.
 *
 * @example
 * const store = redisStoreIfNamed({ url: env("REDIS_URL", ""), prefix: "shop:" }, embeddedStore);
 */
export function redisStoreIfNamed(
  settings: RedisConfig,
  otherwise: StoreSource = noStore,
): StoreSource {
  const { url } = settings;
  return typeof url === "string" && url.trim() === "" ? otherwise : redisStore(settings);
}

const noStore: StoreSource = {
  identity: "none",
  check: () => {},
  open: async () => undefined,
};
