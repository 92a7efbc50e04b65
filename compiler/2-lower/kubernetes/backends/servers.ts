import { serverAddress } from "../../../backends/index.ts";
import type { Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import type { BackendReference } from "../../../manifests/routes.ts";
import type { ServerConfig } from "../../../model/server-policies.ts";
import { HTTP_SERVER } from "../../../model/traffic.ts";
import { resourceName } from "../inventory/inventory.ts";
import { follow } from "../inventory/references.ts";
import { portAddress, portOf, serviceName } from "../inventory/services.ts";
import { meetField } from "../policies/applicable.ts";
import { backendOnly } from "../policies/effective.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { recordEffect } from "../policies/policy-effects.ts";
import { connectionOf } from "./connections.ts";

/** The kinds that are one server. */
const SERVER_KINDS = ["Service", "GatewayBackend"] as const;

/** A reference of a policy to a server that the gateway itself talks to. */
export interface ServerUse {
  readonly reference: BackendReference;
  /** The resource that refers to it. */
  readonly from: Manifest;
  /** Whose pods talk to it. */
  readonly gateway: Manifest;
  readonly origin: Origin;
}

/**
 * A Service or a static GatewayBackend, and how it is reached: as the policies on it say, and its own. Those of Gateways
 * and routes are about their traffic. Undefined when there is none (reported).
 */
export function serverOf(
  { reference, from, gateway, origin }: ServerUse,
  context: PolicyContext,
): ServerConfig | undefined {
  const manifest = follow({ to: reference, from, origin, kinds: SERVER_KINDS }, context);
  if (manifest?.spec === undefined) return undefined;
  const found =
    manifest.kind === "GatewayBackend"
      ? staticServer(manifest, origin, context)
      : serviceServer(manifest, reference.port, origin, context);
  if (found === undefined) return undefined;
  const { address, port } = found;
  const fields = backendOnly(manifest, port, context.policyIndex);
  for (const field of fields) {
    recordEffect(field, gateway, context);
    meetField(field, HTTP_SERVER, context.sections);
  }
  const serverName =
    manifest.kind === "Service" && !address.startsWith(serviceName(manifest))
      ? serviceName(manifest)
      : undefined;
  const policies = connectionOf(fields, { port, serverName, origin }, gateway, context);
  return { url: `${policies?.tls === undefined ? "http" : "https"}://${address}`, policies };
}

interface Server {
  readonly address: string;
  readonly port: ServicePort | undefined;
}

function staticServer(
  manifest: ManifestOf<"GatewayBackend">,
  origin: Origin,
  context: PolicyContext,
): Server | undefined {
  const found = context.backends.get(manifest);
  const address = found && serverAddress(found.config);
  if (typeof address === "string") return { address, port: undefined };
  context.diagnostics.report("ambiguous-key-server", origin, { what: resourceName(manifest) });
  return undefined;
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
