import type { ListenerTlsValue } from "../../1-parse/standalone/listener.ts";
import { LLM_PORT, type LlmValue } from "../../1-parse/standalone/llm.ts";
import { MCP_PORT, type McpDoorValue } from "../../1-parse/standalone/mcp.ts";
import type { RoutePolicies } from "../../1-parse/standalone/policies.ts";
import { modelsByName, type NamedModel } from "../../backends/ai/front-door.ts";
import type { LlmModelValue } from "../../backends/ai/front-door-schema.ts";
import { readVirtualModel } from "../../backends/ai/virtual-models.ts";
import type { BackendConfig } from "../../backends/index.ts";
import { serversOfDoor } from "../../backends/mcp/front-door.ts";
import { sectionsOf } from "../../backends/parts/connection-sections.ts";
import {
  readBackendPolicies,
  readModelPolicies,
  readOwnPolicies,
} from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { ListenerResource, RouteResource } from "../../config/resources.ts";
import { routeTraffic } from "../../config/sections.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { mergeBackendPolicies } from "../../model/backend-policies.ts";
import { actingThere, over } from "./attached-policies.ts";
import { readListenerTls } from "./listener-tls.ts";
import { mergePolicies } from "./route-groups.ts";
import { type FileContext, meetRoute, meetServers, readPolicies } from "./route-parts.ts";

/** Resources of a file's `llm` or `mcp` section: a listener with one route for every request. */
export interface FrontDoor {
  readonly listener: ListenerResource;
  readonly route: RouteResource;
}

/** Reads the listener and the route of `llm`. */
export function readLlm(value: LlmValue, origin: Origin, context: FileContext): FrontDoor {
  const models = value.models.flatMap((model, index) =>
    model === undefined ? [] : [readModel(model, childOf(origin, "models", index))],
  );
  const ofDoor = readBackendPolicies(value.policies, childOf(origin, "policies"));
  const virtual = (value.virtualModels ?? []).flatMap((model, index) =>
    model === undefined ? [] : [readVirtualModel(model, childOf(origin, "virtualModels", index))],
  );
  const backend = modelsByName(models, virtual, ofDoor, origin);
  return frontDoor("llm", { port: LLM_PORT, ...value }, backend, origin, context);
}

function readModel(model: LlmModelValue, origin: Origin): NamedModel {
  const { name, provider, params } = model;
  return { name, provider, params, policies: readModelPolicies(model, origin), origin };
}

/** Reads the listener and the route of `mcp`, which serves MCP at every path. */
export function readMcp(value: McpDoorValue, origin: Origin, context: FileContext): FrontDoor {
  const servers = serversOfDoor(value, origin, readOwnPolicies);
  const policies = readBackendPolicies(value.policies, childOf(origin, "policies"));
  const backend = { ...servers, ...(policies && { policies }) };
  meetServers(backend, context);
  return frontDoor("mcp", { port: MCP_PORT, ...value }, backend, origin, context);
}

/** Fields common to the `llm` and `mcp` sections. */
interface DoorValue {
  readonly port: number;
  readonly address?: string;
  readonly tls?: ListenerTlsValue;
  readonly policies?: RoutePolicies;
}

function frontDoor(
  name: "llm" | "mcp",
  { port, address, tls, policies: given = {} }: DoorValue,
  backend: BackendConfig,
  origin: Origin,
  context: FileContext,
): FrontDoor {
  const { attached, diagnostics } = context;
  const isDoorPartial = attached.isPartial || isPartial(origin, context);
  const general = over(attached.onRoutes({ name, port }), attached.onRoute(name));
  const own = readPolicies(given, childOf(origin, "policies"), diagnostics);
  const policies = mergePolicies(general.policies, own);
  const carried = isDoorPartial ? undefined : routeTraffic([backend]);
  meetRoute({ policies: given }, policies, origin, carried, context);
  for (const section of sectionsOf(general.backendPolicies ?? {}))
    context.sections.meet(section, carried);
  const before = attached.before({ name, port });
  const reached = general.backendPolicies && {
    policies: mergeBackendPolicies(general.backendPolicies, backend.policies),
  };
  return {
    listener: {
      key: name,
      name,
      port,
      portOrigin: childOf(origin, "port"),
      address,
      hostname: "*",
      protocol: tls === undefined ? "HTTP" : "HTTPS",
      tls: tls && readListenerTls(tls),
      pathHandling: undefined,
      isPartial: isDoorPartial,
      policies: before,
      origin,
    },
    route: {
      kind: "route",
      name,
      listeners: [{ listener: name, hostnames: [] }],
      isPartial: isDoorPartial,
      matches: [
        { path: { kind: "prefix", value: "/" }, method: undefined, headers: [], query: [], origin },
      ],
      policies: actingThere(policies, general, carried),
      backends: [{ ...backend, ...reached }],
      origin,
    },
  };
}
