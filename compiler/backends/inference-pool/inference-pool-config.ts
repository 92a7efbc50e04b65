import type { DestinationConfig } from "../../model/destinations.ts";
import type { Text } from "../../model/texts.ts";

/** `inferencePool` as configured. */
export interface InferencePoolConfig {
  /** The name whose addresses are the pool's endpoints. */
  readonly address: Text;
  readonly picker: DestinationConfig;
  readonly passesOnFailure: boolean;
}
