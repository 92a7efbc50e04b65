import type { ConfigValue } from "../../../1-parse/values.ts";
import type { ManifestOf, McpTargetSpec, ServicePort } from "../../../config/manifests.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { resourceName } from "../inventory/inventory.ts";
import type { ReferenceContext } from "../inventory/references.ts";
import { selects } from "../inventory/selectors.ts";
import { portAddress, type SelectedPort } from "../inventory/services.ts";

/** A target of an MCP backend. */
export interface BackendSection {
  /** The name under which policies know it. */
  readonly name: string;
  /** The Service that a selector found. */
  readonly service?: SelectedPort;
}

/** A target as the standalone file has it, and as policies know it. */
export type TargetConfig = { readonly name: string; readonly part: BackendSection } & {
  readonly [Kind in "mcp" | "sse"]?: { readonly [key: string]: ConfigValue };
};

/** A target as the standalone file has it; a selector gives one for each Service. */
export function targetConfigs(
  target: McpTargetSpec,
  backend: ManifestOf<"GatewayBackend">,
  origin: Origin,
  context: ReferenceContext,
): readonly TargetConfig[] {
  const { name, static: server, selector } = target;
  if (server !== undefined) {
    const { host, port, path, protocol } = server;
    const address = { host, port, ...(path === undefined ? {} : { path: withSlash(path) }) };
    return [
      protocol === "SSE"
        ? { name, part: { name }, sse: address }
        : { name, part: { name }, mcp: address },
    ];
  }
  const services = context.inventory
    .all("Service")
    .filter((service) => isSelected(service, selector, backend, context));
  const found = services.flatMap((service) => mcpPorts(service).map((port) => ({ service, port })));
  for (const service of services) {
    // One with mistakes has been reported.
    if (service.spec === undefined || found.some((each) => each.service === service)) continue;
    const params = { service: resourceName(service), ports: service.spec.ports?.length ?? 0 };
    context.diagnostics.report("target-without-port", childOf(origin, "selector"), params);
  }
  if (services.length === 0)
    context.diagnostics.report("targets-without-match", childOf(origin, "selector"), {
      target: name,
    });
  const names = selectedNames(name, found);
  return found.flatMap(({ service, port }, index): readonly TargetConfig[] => {
    const address = portAddress(service, port, origin, context);
    const isSse = port.appProtocol?.endsWith("/mcp-sse") === true;
    const config = { name: names[index] ?? name, part: { name, service: { service, port } } };
    return isSse
      ? [{ ...config, sse: { host: `http://${address}/sse` } }]
      : [{ ...config, mcp: { host: `http://${address}/mcp` } }];
  });
}

/** One Service is the target itself; several are called after both, and after whatever tells them apart. */
function selectedNames(name: string, found: readonly SelectedPort[]): readonly string[] {
  if (found.length === 1) return [name];
  const services = found.map(({ service }) => `${name}-${service.name}`);
  return found.map(({ service, port }, index) => {
    const own = services[index] ?? name;
    const isUnique = services.filter((each) => each === own).length === 1;
    return isUnique ? own : `${name}-${service.namespace}-${service.name}-${port.port}`;
  });
}

/** The ports of a Service that speak MCP: those that say so, else the only one. */
function mcpPorts({ spec }: ManifestOf<"Service">): readonly ServicePort[] {
  const ports = spec?.ports ?? [];
  const marked = ports.filter(({ appProtocol }) => appProtocol?.includes("/mcp") === true);
  if (marked.length > 0) return marked;
  return ports.length === 1 ? ports : [];
}

function isSelected(
  service: ManifestOf<"Service">,
  selector: McpTargetSpec["selector"],
  backend: ManifestOf<"GatewayBackend">,
  { inventory }: ReferenceContext,
): boolean {
  const isNear =
    selector?.namespaces === undefined
      ? service.namespace === backend.namespace
      : selects(selector.namespaces, inventory.namespaceLabels(service.namespace));
  return isNear && selects(selector?.services ?? {}, service.labels);
}

function withSlash(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
