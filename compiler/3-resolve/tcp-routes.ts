import type { ListenerResource, TcpRouteResource } from "../config/resources.ts";
import { childOf, keyPlace } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { TcpRouteNode } from "../ir/tcp.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import { checkShares, openProxyOf, resolveTcpBackend } from "./backends.ts";
import { withoutConsequences } from "./consequences.ts";
import { resolvePolicy, withoutRoute } from "./policies.ts";
import type { RouteContext } from "./routes.ts";

/** A listener that a route is attached to, with the server names that the route serves there. */
export interface TcpAttachment {
  readonly listener: ListenerResource;
  readonly hostnames: readonly string[];
}

/** Resolves a TCP route, once for all of its listeners. */
export function resolveTcpRoute(
  resource: TcpRouteResource,
  attachments: readonly TcpAttachment[],
  whole: RouteContext,
): TcpRouteNode {
  const { origin } = resource;
  const context = withoutConsequences(
    whole,
    resource,
    ...attachments.map(({ listener }) => listener),
  );
  const [first] = attachments;
  const name = resource.name ?? first?.hostnames[0] ?? first?.listener.name ?? "route";
  if (attachments.some(({ listener, hostnames }) => isPlain(listener) && hostnames.length > 0)) {
    context.diagnostics.report("name-without-tls", keyPlace(childOf(origin, "hostnames")), {});
  }
  checkBackends(resource, attachments, name, context);
  return {
    id: context.names.take(...(resource.ids ?? [name])),
    name,
    policies: resolvePolicies(resource, context),
    backends: resource.backends.flatMap((each) => resolveTcpBackend(each, context) ?? []),
    origin,
  };
}

function isPlain({ protocol }: ListenerResource): boolean {
  return protocol === "TCP";
}

function checkBackends(
  resource: TcpRouteResource,
  attachments: readonly TcpAttachment[],
  route: string,
  { diagnostics }: RouteContext,
): void {
  const { backends, policies, origin } = resource;
  const [first] = backends;
  if (first === undefined) {
    diagnostics.report("route-without-backend", origin, { route });
    return;
  }
  if (backends.every(({ weight }) => weight === 0)) {
    diagnostics.report("no-weight", keyPlace(first.origin), {
      outcome: "every connection is closed",
    });
  }
  checkShares(resource, [], diagnostics);
  const proxy = openProxyOf(backends);
  if (proxy === undefined) return;
  const at = keyPlace(proxy.origin);
  if (attachments.some(({ listener }) => isPlain(listener))) {
    diagnostics.report("no-destination", at, {});
    return;
  }
  // Listed names are the only destinations.
  const isOpen = attachments.some(({ listener, hostnames }) =>
    (hostnames.length === 0 ? [listener.hostname] : hostnames).includes("*"),
  );
  if (isOpen && policies.length === 0) {
    diagnostics.report("open-proxy", at, { route, names: true });
  }
}

function resolvePolicies(
  { policies }: TcpRouteResource,
  context: RouteContext,
): readonly PolicyUse[] {
  return policies.flatMap((policy) => {
    const use = resolvePolicy(policy, withoutRoute, context);
    if (use !== undefined) checkConnection(use, context);
    return use ?? [];
  });
}

function checkConnection<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  { diagnostics }: RouteContext,
): void {
  policyOf(kind).lowering.checkConnection?.(settings, diagnostics);
}
