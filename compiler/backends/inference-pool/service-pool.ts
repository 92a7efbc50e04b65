import type { Text } from "../../model/texts.ts";
import type { LowerContext } from "../backend.ts";
import type { InferencePoolConfig } from "./inference-pool-config.ts";
import { lowerPicking, type PickingValue } from "./picking.ts";

/** A service whose servers a picker chooses, as a backend. */
export interface ServicePool {
  readonly kind: "inferencePool";
  readonly config: InferencePoolConfig;
}

/** Returns a pool of the servers of a service at `address`. */
export function servicePool(
  address: Text,
  picking: PickingValue,
  context: LowerContext,
): ServicePool {
  return { kind: "inferencePool", config: { address, ...lowerPicking(picking, context) } };
}
