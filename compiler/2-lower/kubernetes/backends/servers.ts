import { serverAddress } from "../../../backends/index.ts";
import { backendTunnel } from "../../../backends/parts/manifest-connection.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import type { ServerConfig, TunnelConfig } from "../../../model/server-policies.ts";
import { HTTP_SERVER, NAMED_SERVER, type Traffic } from "../../../model/traffic.ts";
import { validated } from "../../../schema/schema.ts";
import { resourceName } from "../inventory/inventory.ts";
import { follow } from "../inventory/references.ts";
import { portAddress, portOf, serviceName } from "../inventory/services.ts";
import { actsThere, meetField, sectionOf } from "../policies/applicable.ts";
import { backendOnly } from "../policies/effective.ts";
import type { EffectiveField } from "../policies/merge.ts";
import type { PolicyContext, ServerUse } from "../policies/policy-context.ts";
import { recordEffect } from "../policies/policy-effects.ts";
import { connectionOf } from "./connections.ts";

/** Kinds that describe a single server. */
const SERVER_KINDS = ["Service", "GatewayBackend"] as const;

/**
 * Returns a Service or a static GatewayBackend with its connection policies: those attached to it and its own, but
 * not those of Gateways and routes, which are for client traffic. `undefined` if it is unknown (reported).
 */
export function serverOf(use: ServerUse, context: PolicyContext): ServerConfig | undefined {
  return reachedServer(use, NAMED_SERVER, context);
}

/** Returns the server of a token endpoint, to which only the client's own credentials are sent. */
export function tokenServerOf(use: ServerUse, context: PolicyContext): ServerConfig | undefined {
  return reachedServer(use, NAMED_SERVER, context, ["backend.auth"]);
}

/** Returns a referenced server; `carried` is the traffic to it, and `omitted` are fields that do not act on it. */
function reachedServer(
  { reference, from, gateway, origin }: ServerUse,
  carried: readonly Traffic[],
  context: PolicyContext,
  omitted: readonly string[] = [],
): ServerConfig | undefined {
  const manifest = follow({ to: reference, from, origin, kinds: SERVER_KINDS }, context);
  if (manifest?.spec === undefined) return undefined;
  const found =
    manifest.kind === "GatewayBackend"
      ? staticServer(manifest, reference.port, origin, context)
      : serviceServer(manifest, reference.port, origin, context);
  if (found === undefined) return undefined;
  const { address, port } = found;
  const all = backendOnly(manifest, port, context.policyIndex);
  const fields = all.filter((field) => actsThere(field, carried) && !omitted.includes(field.field));
  for (const field of all) meetField(field, carried, context.sections);
  for (const field of fields) recordEffect(field, gateway, context);
  const idle = all.filter((field) => !fields.includes(field)).flatMap(({ values }) => values);
  for (const value of idle) {
    const call = { section: sectionOf(value), user: resourceName(from), at: origin };
    context.sections.passOver(call);
  }
  const serverName =
    manifest.kind === "Service" && !address.startsWith(serviceName(manifest))
      ? serviceName(manifest)
      : undefined;
  const connection = connectionOf(fields, { port, serverName, origin }, gateway, context);
  const tunnel = tunnelOf(fields, gateway, context);
  const policies = tunnel === undefined ? connection : { ...connection, tunnel };
  const url = `${policies?.tls === undefined ? "http" : "https"}://${address}`;
  return { url, policies, source: manifest.origin };
}

/**
 * Returns the proxy to a server, with the proxy's own connection policies; `undefined` if none is configured or it
 * is invalid (reported).
 */
export function tunnelOf(
  fields: readonly EffectiveField[],
  gateway: Manifest,
  context: PolicyContext,
): TunnelConfig | undefined {
  const given = fields.find(({ field }) => field === "backend.tunnel")?.values.at(-1);
  if (given === undefined) return undefined;
  const { value, origin, source: from } = given;
  const { url, backendRef } = validated(backendTunnel, value);
  if (url !== undefined) {
    return { proxy: url, policies: {}, proxyOrigin: childOf(origin, "url"), origin };
  }
  if (backendRef === undefined) return undefined;
  const at = childOf(origin, "backendRef");
  // The connection to the proxy itself does not use another proxy.
  const use = { reference: backendRef, from, gateway, origin: at };
  const server = reachedServer(use, HTTP_SERVER, context);
  if (server === undefined) return undefined;
  const { tls, tcp, auth } = server.policies ?? {};
  const policies = { ...(tls && { tls }), ...(tcp && { tcp }), ...(auth && { auth }) };
  return { proxy: server.url, policies, proxyOrigin: at, origin };
}

interface Server {
  readonly address: string;
  readonly port: ServicePort | undefined;
}

function staticServer(
  manifest: ManifestOf<"GatewayBackend">,
  wanted: number | undefined,
  origin: Origin,
  context: PolicyContext,
): Server | undefined {
  const found = context.backends.get(manifest);
  const address = found && serverAddress(found.config);
  const what = resourceName(manifest);
  if (typeof address !== "string") {
    context.diagnostics.report("ambiguous-key-server", origin, { what });
    return undefined;
  }
  if (wanted !== undefined && !address.endsWith(`:${wanted}`))
    context.diagnostics.report("other-port", childOf(origin, "port"), { what, address });
  return { address, port: undefined };
}

function serviceServer(
  service: ManifestOf<"Service">,
  wanted: number | undefined,
  origin: Origin,
  context: PolicyContext,
): Server | undefined {
  const port = portOf(service, wanted, origin, context);
  if (port === undefined) return undefined;
  return { address: portAddress(service, port, origin, context), port };
}
