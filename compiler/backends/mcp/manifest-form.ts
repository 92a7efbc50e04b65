import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { FileText } from "../../host.ts";
import {
  declaredSection,
  labelSelector,
  localObject,
  longText,
  port,
} from "../../manifests/field-types.ts";
import type { ManifestOf, ServicePort } from "../../manifests/manifests.ts";
import { withScheme } from "../../model/host-url.ts";
import { LOCK_ENTRY } from "../../model/tool-lock.ts";
import { choice, type Infer, list, object, shortText } from "../../schema/schema.ts";
import { fileWord } from "../../schema/two-forms.ts";
import type {
  BackendSection,
  KubernetesBackendContext,
  KubernetesBackendForm,
  KubernetesPoliciesSchema,
  SelectedPort,
  ServiceSelector,
} from "../backend.ts";
import { appLimitsSchema, lowerAppLimits } from "./app-limits.ts";
import type { McpConfig, McpTargetConfig, ToolLockConfig } from "./mcp-config.ts";
import { eraWords, prefixWords, sessionMode, TARGETS, targetFailureMode } from "./mcp-fields.ts";
import { lowerViews, viewsSchema } from "./mcp-views.ts";
import { lowerSessions, sessionsSchemas } from "./sessions.ts";
import { lowerToolSearch, toolSearchSchema } from "./tool-search.ts";
import { lowerToolViews, toolViewsSchema } from "./tool-views.ts";

/** Form of `mcp` in a GatewayBackend: servers by address, or Services that a selector matches. */
export const kubernetesMcp: KubernetesBackendForm<KubernetesMcpValue, McpConfig> = {
  field: "mcp",
  schema: mcpSchema,
  lower: (value, context) => {
    const { targets, sessionRouting, failureMode, sessions, toolLock, toolSearch } = value;
    const { prefixMode = "Conditional" } = value;
    const found = targets.flatMap((target, index) =>
      lowerTarget(target, childOf(context.origin, "targets", index), context),
    );
    return {
      config: {
        targets: found.map(({ section: _, ...target }) => target),
        isEmptyAsWritten: false,
        isStateful: sessionRouting !== "Stateless",
        prefixMode: fileWord(prefixMode),
        failureMode: fileWord(failureMode ?? "FailClosed"),
        sessions: lowerSessions(sessions, childOf(context.origin, "sessions")),
        toolLock: toolLock && lockOf(toolLock.name, context),
        toolSearch: lowerToolSearch(toolSearch, childOf(context.origin, "toolSearch")),
        toolViews: lowerToolViews(value.tools, childOf(context.origin, "tools")),
        views: lowerViews(value.views, childOf(context.origin, "views")),
        apps: lowerAppLimits(value.apps),
      },
      sections: new Map(found.map(({ name, section }) => [name, section])),
    };
  },
  sectionNames: ({ targets }) => targets.map(({ name }) => name),
  withPolicies: (config, policies) => ({
    ...config,
    targets: config.targets.map((target) => ({ ...target, policies: policies.get(target.name) })),
  }),
};

/** Value of `mcp` in a GatewayBackend, as validated by its schema. */
export type KubernetesMcpValue = Infer<ReturnType<typeof mcpSchema>>;

function mcpSchema(policies: KubernetesPoliciesSchema) {
  return object(
    {
      targets: list(targetSchema(policies), {
        minItems: 1,
        maxItems: 32,
        description: TARGETS,
      }),
      sessionRouting: sessionMode.manifest,
      prefixMode: prefixWords.manifest,
      failureMode: targetFailureMode.manifest,
      sessions: sessionsSchemas.manifest,
      toolLock: localObject(
        "ConfigMap",
        "A ConfigMap with approved tools, prompts and resources under the key `gwc.lock.yaml`, written by `gwc lock`. Items that are not in it or have changed since are hidden from clients.",
      ),
      toolSearch: toolSearchSchema,
      tools: toolViewsSchema,
      views: viewsSchema,
      apps: appLimitsSchema,
    },
    { required: ["targets"], description: "One or more MCP servers at one endpoint." },
  );
}

function targetSchema(policies: KubernetesPoliciesSchema) {
  const target = object(
    {
      host: shortText("Host of the server."),
      backendRef: localObject("Service", "Service of the backend's namespace, instead of `host`."),
      port,
      path: longText("Path of the endpoint; `/mcp` by default, `/sse` for SSE."),
      protocol: choice("Transport of the server.", ["StreamableHTTP", "SSE"]),
      era: eraWords.manifest,
      policies: policies(["tcp", "tls", "http", "auth", "tunnel", "mcp"]),
    },
    {
      required: ["port"],
      exactlyOneOf: ["host", "backendRef"],
      checks: [
        {
          message: "era: Stateless cannot be combined with protocol: SSE",
          field: "era",
          holds: ({ era, protocol }) => protocol !== "SSE" || era !== "Stateless",
          cel: "!has(self.protocol) || self.protocol != 'SSE' || !has(self.era) || self.era != 'Stateless'",
        },
      ],
      description: "An MCP server at an address.",
    },
  );
  const selector = object(
    { namespaces: labelSelector, services: labelSelector },
    {
      atLeastOneOf: ["namespaces", "services"],
      description:
        "Selects Services by their labels and those of their namespaces; each is an MCP server.",
    },
  );
  return object(
    { name: declaredSection, selector, static: target },
    { required: ["name"], exactlyOneOf: ["selector", "static"] },
  );
}

function lockOf(name: string, context: KubernetesBackendContext): ToolLockConfig {
  const { namespace, manifest } = context.configMap(name);
  const text = manifest?.spec?.texts[LOCK_ENTRY];
  const problem = manifest === undefined ? "it does not exist" : `it has no entry ${LOCK_ENTRY}`;
  const entry: FileText =
    text === undefined ? { kind: "problem", problem } : { kind: "text", text };
  return {
    file: `ConfigMap ${namespace}/${name}`,
    configMap: { namespace, name, entry },
    origin: childOf(context.origin, "toolLock"),
  };
}

/** A server with the name by which policies refer to it. */
type FoundTarget = Exclude<McpTargetConfig, { readonly kind: "stdio" | "openapi" }> & {
  readonly section: BackendSection;
};

/** Returns the servers of a target: one, or one per selected Service. */
function lowerTarget(
  { name, static: server, selector }: KubernetesMcpValue["targets"][number],
  origin: Origin,
  context: KubernetesBackendContext,
): readonly FoundTarget[] {
  if (server === undefined) return selectedTargets(name, selector, origin, context);
  const { backendRef, port, path, protocol, era = "Auto", policies: fields } = server;
  const at = childOf(origin, "static");
  const places = { reference: childOf(at, "backendRef"), portOwner: at };
  const service = backendRef && context.servicePort(backendRef.name, port, places);
  if (backendRef !== undefined && service === undefined) return [];
  const address = service ? context.address(service, at) : `${server.host}:${port}`;
  const kind = protocol === "SSE" ? "sse" : "streamable";
  const endpoint = path === undefined ? DEFAULT_PATHS[kind] : withSlash(path);
  const own = fields && { fields, origin: childOf(at, "policies") };
  const section: BackendSection = { name, ...(service && { service }), ...(own && { own }) };
  const url = withScheme(`${address}${endpoint}`);
  return [{ name, kind, era: ERAS[era], url, policies: undefined, origin, section }];
}

const ERAS = { Auto: undefined, Sessions: "sessions", Stateless: "stateless" } as const;

const DEFAULT_PATHS = { streamable: "/mcp", sse: "/sse" } as const;

function selectedTargets(
  name: string,
  selector: ServiceSelector,
  origin: Origin,
  context: KubernetesBackendContext,
): readonly FoundTarget[] {
  const at = childOf(origin, "selector");
  const services = context.services(selector);
  const found = services.flatMap((service) => mcpPorts(service).map((port) => ({ service, port })));
  for (const service of services) {
    // A Service with mistakes has already been reported.
    if (service.spec === undefined || found.some((each) => each.service === service)) continue;
    const params = { service: context.nameOf(service), ports: service.spec.ports?.length ?? 0 };
    context.diagnostics.report("target-without-port", at, params);
  }
  if (services.length === 0) {
    context.diagnostics.report("targets-without-match", at, { target: name });
  }
  const names = selectedNames(name, found);
  return found.map((selected, index) => {
    const isSse = selected.port.appProtocol?.endsWith("/mcp-sse") === true;
    const kind = isSse ? "sse" : "streamable";
    return {
      name: names[index] ?? name,
      kind,
      era: undefined,
      url: `http://${context.address(selected, origin)}${DEFAULT_PATHS[kind]}`,
      policies: undefined,
      origin,
      section: { name, service: selected },
    };
  });
}

/**
 * Returns unique names for the selected Services. A single one has the target's name; others are named after both.
 */
function selectedNames(name: string, found: readonly SelectedPort[]): readonly string[] {
  if (found.length === 1) return [name];
  const services = found.map(({ service }) => `${name}-${service.name}`);
  return found.map(({ service, port }, index) => {
    const own = services[index] ?? name;
    const isUnique = services.filter((each) => each === own).length === 1;
    return isUnique ? own : `${name}-${service.namespace}-${service.name}-${port.port}`;
  });
}

/** Returns the ports of a Service that serve MCP: those marked with an appProtocol, or else the only port. */
function mcpPorts({ spec }: ManifestOf<"Service">): readonly ServicePort[] {
  const ports = spec?.ports ?? [];
  const marked = ports.filter(({ appProtocol }) => appProtocol?.includes("/mcp") === true);
  if (marked.length > 0) return marked;
  return ports.length === 1 ? ports : [];
}

function withSlash(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
