import type { JsonObject } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type KeySet, readKeySet } from "./key-set.ts";

/** Where an issuer's keys come from. */
export interface KeySource {
  /** The keys as they are known now; the same object until they change. Undefined: none were ever had. */
  current(gateway: GatewayContext): KeySet | undefined;
  /** The keys after asking for newer ones, as far as that is permitted now. Never rejects. */
  renewed(gateway: GatewayContext): KeySet | undefined | Promise<KeySet | undefined>;
}

/** Keys that are written in the configuration, or in a file that it names. */
export function inlineKeys(keys: readonly JsonObject[]): KeySource {
  const set = readKeySet({ keys });
  return { current: () => set, renewed: () => set };
}
