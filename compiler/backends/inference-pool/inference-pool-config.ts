import type { DestinationConfig } from "../../model/destinations.ts";
import type { Text } from "../../model/texts.ts";

/** Choice of a server for each request. */
export interface PickingConfig {
  readonly picker: DestinationConfig;
  readonly passesOnFailure: boolean;
  /** Whether the picker finds the endpoints itself, so that any address that it returns is accepted. */
  readonly takesAnyEndpoint: boolean;
}

/** `inferencePool` as configured. */
export interface InferencePoolConfig extends PickingConfig {
  /** Name whose addresses are the pool's endpoints. */
  readonly address: Text;
}
