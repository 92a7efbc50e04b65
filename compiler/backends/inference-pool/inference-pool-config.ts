import type { DestinationConfig } from "../../model/destinations.ts";
import type { Text } from "../../model/texts.ts";

/** `inferencePool` as configured. */
export interface InferencePoolConfig {
  /** The name whose addresses are the pool's endpoints. */
  readonly address: Text;
  readonly picker: DestinationConfig;
  readonly passesOnFailure: boolean;
  /** The picker knows the endpoints by itself: any address that it names is one. */
  readonly takesAnyEndpoint: boolean;
}
