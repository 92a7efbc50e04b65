import type { Origin } from "../diagnostics/diagnostic.ts";
import type { ServerPolicies } from "./server-policies.ts";
import type { Text } from "./texts.ts";

/** A server that the gateway itself calls, as configured. */
export interface DestinationConfig {
  /** An address, or the name of a backend in the file. */
  readonly to: { readonly host: Text } | { readonly name: string };
  readonly policies?: ServerPolicies | undefined;
  /** Its resource, for manifests. */
  readonly source?: Origin;
  readonly origin: Origin;
}
