import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { BackendConnection } from "../../model/connections.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import { secureUrl, serverUrl } from "../../model/host-url.ts";
import type { Text } from "../../model/texts.ts";
import { type ConnectionContext, resolveConnection } from "./connection.ts";

/** A server to which the gateway sends its own requests. */
export interface DestinationNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  /** HTTP settings of the server. */
  readonly http: BackendPolicies["http"];
  /** Changes to its response headers. */
  readonly responseHeaders: BackendPolicies["responseHeaders"];
  readonly origin: Origin;
}

/** Services needed to resolve a destination. */
export interface DestinationContext extends ConnectionContext {
  readonly diagnostics: Diagnostics;
  /** Name of what calls the servers, for messages about named backends. */
  readonly user: string;
}

/** Resolves a server for the gateway's own requests; returns `undefined` if a mistake was reported. */
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
  const { tokenExchange: exchange } = connection;
  const kind = exchange?.next === undefined ? "oauthTokenExchange" : "crossAppAccess";
  const field = exchange === undefined ? "passthrough" : kind;
  context.diagnostics.report("misplaced-field", childOf(authOrigin ?? origin, field), {
    field: `"${field}"`,
    actsOn: "the requests of clients",
    found: "requests of the gateway's own",
  });
  return undefined;
}

/** A server with its connection. */
export interface ServerNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  /** HTTP settings of the server. */
  readonly http: BackendPolicies["http"];
  /** Changes to its response headers. */
  readonly responseHeaders: BackendPolicies["responseHeaders"];
  /** Location of its credentials; `undefined` if it gets none. */
  readonly authOrigin: Origin | undefined;
}

/** Resolves the URL and connection of a server, for any requests; returns `undefined` if a mistake was reported. */
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
  const found = context.namedServer(
    { name: to.name, origin, user: context.user },
    context.diagnostics,
  );
  if (found === undefined) return undefined;
  const both = { ...found.policies, ...policies };
  return resolveServer(
    { to: { host: found.address }, policies: both, origin: found.origin },
    context,
  );
}
