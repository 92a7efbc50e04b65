import type { JsonObject } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type KeySet, readKeySet } from "./key-set.ts";

/** Source of an issuer's keys. */
export interface KeySource {
  /** Returns the known keys, as the same object until they change; `undefined` if they were never fetched. */
  current(gateway: GatewayContext): KeySet | undefined;
  /** Returns the keys after fetching newer ones, if the rate limit permits. Never rejects. */
  renewed(gateway: GatewayContext): KeySet | undefined | Promise<KeySet | undefined>;
}

/** Keys in the configuration, or in a file that it names. */
export function inlineKeys(keys: readonly JsonObject[]): KeySource {
  const set = readKeySet({ keys });
  return { current: () => set, renewed: () => set };
}
