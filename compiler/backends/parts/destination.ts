import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { BackendConnection } from "../../model/connections.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import { serverUrl } from "../../model/host-url.ts";
import type { Text } from "../../model/texts.ts";
import { type ConnectionContext, resolveConnection, secureUrl } from "./connection.ts";

/** A server that the gateway itself talks to. */
export interface DestinationNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  /** What is said of HTTP to it. */
  readonly http: BackendPolicies["http"];
  /** What is changed of its responses' headers. */
  readonly responseHeaders: BackendPolicies["responseHeaders"];
  readonly origin: Origin;
}

/** What resolving a destination needs. */
export interface DestinationContext extends ConnectionContext {
  readonly diagnostics: Diagnostics;
  /** The server that a named backend of the file is; undefined when it is none (reported). */
  readonly namedServer: (
    name: string,
    origin: Origin,
  ) =>
    | {
        readonly address: Text;
        readonly policies: BackendPolicies | undefined;
        readonly origin: Origin;
      }
    | undefined;
}

/** A server that the gateway's own requests go to; undefined when a mistake was reported. */
export function resolveDestination(
  config: DestinationConfig,
  context: DestinationContext,
): DestinationNode | undefined {
  const found = resolveServer(config, context);
  if (found === undefined) return undefined;
  const { authOrigin, ...node } = found;
  const { connection } = node;
  const { origin } = config;
  if (!connection.isPassthrough) return { ...node, origin };
  const field = connection.tokenExchange === undefined ? "passthrough" : "oauthTokenExchange";
  context.diagnostics.report("misplaced-field", childOf(authOrigin ?? origin, field), {
    field: `"${field}"`,
    actsOn: "the requests of clients",
    found: "requests of the gateway's own",
  });
  return undefined;
}

/** A server and how it is reached. */
export interface ServerNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  /** What is said of HTTP to it. */
  readonly http: BackendPolicies["http"];
  /** What is changed of its responses' headers. */
  readonly responseHeaders: BackendPolicies["responseHeaders"];
  /** Where its credentials stand; undefined: it gets none. */
  readonly authOrigin: Origin | undefined;
}

/** Where a server is and how it is reached, whoever's requests go there; undefined when a mistake was reported. */
export function resolveServer(
  { to, policies = {}, origin }: DestinationConfig,
  context: DestinationContext,
): ServerNode | undefined {
  if ("host" in to) {
    const url = serverUrl(to.host, policies.tls !== undefined, origin, context.diagnostics);
    if (url === undefined) return undefined;
    const connection = resolveConnection(policies, context);
    const { http, auth, responseHeaders } = policies;
    const authOrigin = auth?.origin;
    return { url: secureUrl(url, connection), connection, http, responseHeaders, authOrigin };
  }
  const found = context.namedServer(to.name, origin);
  if (found === undefined) return undefined;
  const both = { ...found.policies, ...policies };
  return resolveServer(
    { to: { host: found.address }, policies: both, origin: found.origin },
    context,
  );
}
