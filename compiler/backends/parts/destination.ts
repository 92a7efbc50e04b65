import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { BackendConnection } from "../../model/connections.ts";
import { forwardUrl } from "../../model/host-url.ts";
import type { Text } from "../../model/texts.ts";
import { type ConnectionContext, resolveConnection, secureUrl } from "./connection.ts";

/** A server that the gateway itself talks to, as configured. */
export interface DestinationConfig {
  /** An address, or the name of a backend of the file. */
  readonly to: { readonly host: Text } | { readonly name: string };
  readonly policies?: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** A server that the gateway itself talks to. */
export interface DestinationNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly origin: Origin;
}

/** What resolving a destination needs. */
export interface DestinationContext extends ConnectionContext {
  readonly diagnostics: Diagnostics;
  /** The server that a named backend of the file is; undefined when it is none (reported). */
  readonly namedServer: (
    name: string,
    origin: Origin,
  ) => { readonly address: Text; readonly policies: BackendPolicies | undefined } | undefined;
}

/** Reports that the client's token should go to a server that it did not ask for; `origin`: of the credentials. */
export function reportPassthrough(
  origin: Origin,
  { diagnostics }: Pick<DestinationContext, "diagnostics">,
): void {
  diagnostics.report("misplaced-field", childOf(origin, "passthrough"), {
    field: '"passthrough"',
    actsOn: "the requests of clients",
    found: "requests of the gateway's own",
  });
}

/** Where a destination is and how it is reached; undefined when a mistake was reported. */
export function resolveDestination(
  { to, policies = {}, origin }: DestinationConfig,
  context: DestinationContext,
): DestinationNode | undefined {
  if ("host" in to) {
    const url = forwardUrl(to.host, origin, context.diagnostics);
    if (url === undefined) return undefined;
    const connection = resolveConnection(policies, context);
    if (connection.isPassthrough) {
      reportPassthrough(policies.auth?.origin ?? origin, context);
      return undefined;
    }
    return { url: secureUrl(url, connection), connection, origin };
  }
  const found = context.namedServer(to.name, origin);
  if (found === undefined) return undefined;
  const both = { ...found.policies, ...policies };
  return resolveDestination({ to: { host: found.address }, policies: both, origin }, context);
}
