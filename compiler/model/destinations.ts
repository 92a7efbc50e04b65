import type { Origin } from "../diagnostics/diagnostic.ts";
import type { ServerPolicies } from "./server-policies.ts";
import type { Text } from "./texts.ts";

/** A server that the gateway itself talks to, as configured. */
export interface DestinationConfig {
  /** An address, or the name of a backend of the file. */
  readonly to: { readonly host: Text } | { readonly name: string };
  readonly policies?: ServerPolicies | undefined;
  /** The resource that it is, of manifests. */
  readonly source?: Origin;
  readonly origin: Origin;
}
