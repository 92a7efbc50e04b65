import type { ListenerTlsValue } from "../../1-parse/standalone/listener.ts";
import { LLM_PORT, type LlmValue } from "../../1-parse/standalone/llm.ts";
import { MCP_PORT, type McpDoorValue } from "../../1-parse/standalone/mcp.ts";
import type { RoutePolicies } from "../../1-parse/standalone/policies.ts";
import { modelsByName } from "../../backends/ai/front-door.ts";
import { readVirtualModel } from "../../backends/ai/virtual-models.ts";
import type { BackendConfig } from "../../backends/index.ts";
import { serversOfDoor } from "../../backends/mcp/front-door.ts";
import { sectionsOf } from "../../backends/parts/connection-sections.ts";
import { readBackendPolicies, readOwnPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { ListenerResource, MatchConfig, RouteResource } from "../../config/resources.ts";
import { routeTraffic } from "../../config/sections.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { mergeBackendPolicies } from "../../model/backend-policies.ts";
import type { PoliciesByTarget, RoutePlacement } from "./attached.ts";
import { actingThere, over, placementsOf } from "./attached-policies.ts";
import type { GatewayReferences, GatewayRefs } from "./gateway-references.ts";
import { readListenerTls } from "./listener-tls.ts";
import { readModels } from "./llm-models.ts";
import { mergePolicies } from "./route-groups.ts";
import { type FileContext, meetRoute, meetServers, readPolicies } from "./route-parts.ts";
import { withServerPolicies } from "./server-policies.ts";

/** Resources of a file's `llm` or `mcp` section. */
export interface FrontDoor {
  /** Its own listener, unless it is attached to gateways. */
  readonly listeners: readonly ListenerResource[];
  readonly routes: readonly RouteResource[];
}

/** Services for reading `llm` and `mcp`. */
export interface DoorContext extends FileContext {
  readonly references: GatewayReferences;
}

/** Reads the routes of `llm`, and its listener unless it is attached to gateways. */
export function readLlm(value: LlmValue, origin: Origin, context: DoorContext): FrontDoor {
  const models = readModels(value, origin, context);
  const ofDoor = readBackendPolicies(value.policies, childOf(origin, "policies"));
  const virtual = (value.virtualModels ?? []).flatMap((model, index) =>
    model === undefined ? [] : [readVirtualModel(model, childOf(origin, "virtualModels", index))],
  );
  const apis = (value.apis ?? []).map((name, index) => ({
    name,
    origin: childOf(origin, "apis", index),
  }));
  const backend = modelsByName(models, virtual, apis, ofDoor, origin);
  return frontDoor("llm", value, backend, origin, context);
}

/** Reads the routes of `mcp`, and its listener, which serves every path, unless it is attached to gateways. */
export function readMcp(value: McpDoorValue, origin: Origin, context: DoorContext): FrontDoor {
  const servers = serversOfDoor(value, origin, readOwnPolicies);
  const policies = readBackendPolicies(value.policies, childOf(origin, "policies"));
  const backend = { ...servers, ...(policies && { policies }) };
  meetServers(backend, context);
  return frontDoor("mcp", value, backend, origin, context);
}

/** Fields common to the `llm` and `mcp` sections. */
interface DoorValue {
  readonly gateways?: GatewayRefs;
  readonly port?: number;
  readonly address?: string;
  readonly tls?: ListenerTlsValue;
  readonly policies?: RoutePolicies;
}

/** Ports and paths of the sections: on a port of its own a section serves every path. */
const DOORS = {
  llm: { port: LLM_PORT, attachedPaths: ["/"] },
  mcp: { port: MCP_PORT, attachedPaths: ["/mcp", "/sse"] },
};

function frontDoor(
  name: keyof typeof DOORS,
  value: DoorValue,
  backend: BackendConfig,
  origin: Origin,
  context: DoorContext,
): FrontDoor {
  const { attached, references } = context;
  const isDoorPartial = attached.isPartial || isPartial(origin, context);
  const { gateways, port, address, tls } = value;
  const hasOwnPort = [port, address, tls].some((each) => each !== undefined);
  const isAttached = gateways !== undefined || (!hasOwnPort && references.hasDefault);
  const own = isAttached ? [] : [ownListener(name, value, isDoorPartial, origin, attached)];
  const listeners = isAttached ? references.listenersOf(gateways, origin, "HTTP") : own;
  const paths = isAttached ? DOORS[name].attachedPaths : ["/"];
  const matches = paths.map((path) => pathMatch(path, origin));
  const served = { name, matches, isPartial: isDoorPartial };
  const routes = placementsOf(listeners, [], attached).map((general) => {
    const outer = { ...general, ...over(general, attached.onRoute(name)) };
    return doorRoute(served, value, backend, origin, outer, context);
  });
  return { listeners: own, routes };
}

function ownListener(
  name: keyof typeof DOORS,
  { port = DOORS[name].port, address, tls }: DoorValue,
  isDoorPartial: boolean,
  origin: Origin,
  attached: PoliciesByTarget,
): ListenerResource {
  return {
    key: name,
    name,
    port,
    portOrigin: childOf(origin, "port"),
    address,
    hostname: "*",
    protocol: tls === undefined ? "HTTP" : "HTTPS",
    tls: tls && readListenerTls(tls, origin),
    pathHandling: undefined,
    isPartial: isDoorPartial,
    policies: attached.before({ key: name, name, port }),
    origin,
  };
}

function doorRoute(
  served: Pick<RouteResource, "name" | "matches"> & { readonly isPartial: boolean },
  { policies: given = {} }: DoorValue,
  backend: BackendConfig,
  origin: Origin,
  { listeners, ...general }: RoutePlacement,
  context: FileContext,
): RouteResource {
  const own = readPolicies(given, childOf(origin, "policies"), context.diagnostics);
  const policies = mergePolicies(general.policies, own);
  const carried = served.isPartial ? undefined : routeTraffic([backend]);
  meetRoute({ policies: given }, policies, origin, carried, context);
  for (const section of sectionsOf(general.backendPolicies ?? {}))
    context.sections.meet(section, carried);
  const reached = general.backendPolicies && {
    policies: mergeBackendPolicies(general.backendPolicies, backend.policies),
  };
  return {
    kind: "route",
    ...served,
    listeners,
    policies: withServerPolicies(
      actingThere(policies, general, carried),
      [backend],
      context.diagnostics,
    ),
    backends: [{ ...backend, ...reached }],
    origin,
  };
}

function pathMatch(value: string, origin: Origin): MatchConfig {
  return { path: { kind: "prefix", value }, method: undefined, headers: [], query: [], origin };
}
