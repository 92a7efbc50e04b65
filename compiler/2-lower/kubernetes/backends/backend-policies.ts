import { backendTunnel } from "../../../1-parse/kubernetes/schemas/connection.ts";
import {
  kubernetesHealth,
  readKubernetesHealth,
} from "../../../backends/parts/health-manifest-form.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendPolicies, TunnelConfig } from "../../../model/backend-policies.ts";
import { validated } from "../../../schema/schema.ts";
import type { EffectiveField, FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type ConnectionDestination, connectionOf } from "./connections.ts";
import { llmPolicies } from "./llm-policies.ts";
import { serverOf } from "./servers.ts";

/** How a backend is reached, and what becomes of requests to its models, as the effective fields say. */
export function backendPoliciesOf(
  fields: readonly EffectiveField[],
  destination: ConnectionDestination,
  gateway: Manifest,
  context: PolicyContext,
): BackendPolicies | undefined {
  const given = (name: string) =>
    fields.find(({ field }) => field === `backend.${name}`)?.values.at(-1);
  const connection = connectionOf(fields, destination, gateway, context);
  const ai = llmPolicies(fields, gateway, context);
  const [health, tunnel] = [given("health"), given("tunnel")];
  const way = tunnel && tunnelOf(tunnel, gateway, context);
  const policies: BackendPolicies = {
    ...connection,
    ...(ai && { ai }),
    ...(health && {
      health: readKubernetesHealth(validated(kubernetesHealth, health.value), health.origin),
    }),
    ...(way && { tunnel: way }),
  };
  return Object.keys(policies).length === 0 ? undefined : policies;
}

/** The proxy of a tunnel, and how it is itself reached; undefined when there is none (reported). */
function tunnelOf(
  { value, origin, source }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): TunnelConfig | undefined {
  const { url, backendRef } = validated(backendTunnel, value);
  if (url !== undefined) {
    return { proxy: url, policies: {}, proxyOrigin: childOf(origin, "url"), origin };
  }
  if (backendRef === undefined) return undefined;
  const at = childOf(origin, "backendRef");
  const use = { reference: backendRef, from: source, gateway, origin: at };
  const server = serverOf(use, context);
  if (server === undefined) return undefined;
  const { tls, tcp, auth } = server.policies ?? {};
  const policies = { ...(tls && { tls }), ...(tcp && { tcp }), ...(auth && { auth }) };
  return { proxy: server.url, policies, proxyOrigin: at, origin };
}
