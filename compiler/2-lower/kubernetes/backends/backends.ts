import type { ConfigValue } from "../../../1-parse/values.ts";
import type {
  BackendReference,
  Manifest,
  ManifestOf,
  ServicePort,
} from "../../../config/manifests.ts";
import type { BackendConfig } from "../../../config/resources.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { endpointsOf, hostAndPort, portOf, serviceAddress } from "../inventory/services.ts";
import { type BackendSection, targetConfigs } from "./mcp-targets.ts";

/** A backend as the standalone file would have it, and the resource that it is. */
export interface KubernetesBackend {
  readonly config: BackendConfig;
  /** Undefined when it could not be found (reported). */
  readonly manifest: ManifestOf<"Service"> | ManifestOf<"GatewayBackend"> | undefined;
  /** Its MCP targets by name. */
  readonly parts: ReadonlyMap<string, BackendSection>;
  /** The port of a Service: its name and number, as policies name it. */
  readonly port: ServicePort | undefined;
  /** `HOST:PORT` of each of its servers, when they are known one by one. */
  readonly addresses: readonly string[];
}

/** The kinds that a route may send to. */
export const BACKEND_KINDS = ["Service", "GatewayBackend"] as const;

/** What a route's reference leads to. */
export function backendOf(
  reference: BackendReference,
  from: Manifest,
  origin: Origin,
  context: ReferenceContext,
): KubernetesBackend {
  const manifest = follow({ to: reference, from, origin, kinds: BACKEND_KINDS }, context);
  const none = {
    config: unresolved(origin),
    parts: new Map<string, BackendSection>(),
    addresses: [],
  };
  if (manifest?.kind === "GatewayBackend") {
    const found = gatewayBackend(manifest, context) ?? none;
    return { ...none, ...found, manifest, port: undefined };
  }
  if (manifest === undefined) return { ...none, manifest, port: undefined };
  const port = portOf(manifest, reference.port, origin, context);
  if (port === undefined) return { ...none, manifest, port };
  const addresses = endpointsOf(manifest, port, context);
  const config = addresses[0] ?? serviceAddress(manifest, port);
  return { ...none, config: { kind: "host", config, origin }, manifest, port, addresses };
}

/** Stands for what could not be resolved (reported): the program is not used then. */
function unresolved(origin: Origin): BackendConfig {
  return { kind: "host", config: "unresolved.invalid:80", origin };
}

function gatewayBackend(
  manifest: ManifestOf<"GatewayBackend">,
  context: ReferenceContext,
): Pick<KubernetesBackend, "config" | "parts"> | undefined {
  const { spec, origin } = manifest;
  const place = childOf(origin, "spec");
  if (spec?.static !== undefined) {
    const { host, port } = spec.static;
    const config = hostAndPort(host, port);
    return {
      config: { kind: "host", config, origin: childOf(place, "static") },
      parts: new Map(),
    };
  }
  if (spec?.dynamicForwardProxy !== undefined) {
    const at = childOf(place, "dynamicForwardProxy");
    const config = { kind: "dynamic", config: spec.dynamicForwardProxy, origin: at } as const;
    return { config, parts: new Map() };
  }
  if (spec?.mcp === undefined) return undefined;
  const at = childOf(place, "mcp");
  const targets = spec.mcp.targets.flatMap((target, index) =>
    targetConfigs(target, manifest, childOf(at, "targets", index), context),
  );
  const config: ConfigValue = {
    targets: targets.map(({ part: _, ...target }) => target),
    ...(spec.mcp.failureMode === "FailOpen" ? { failureMode: "failOpen" } : {}),
  };
  const parts = new Map(targets.map((target) => [target.name, target.part]));
  return { config: { kind: "mcp", config, origin: at }, parts };
}
