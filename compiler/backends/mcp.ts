import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../model/backend-policies.ts";
import type { BackendConnection } from "../model/connections.ts";
import { checkUrl, forwardUrl, secureUrl } from "../model/host-url.ts";
import { isServerName } from "../model/server-address.ts";
import { shownText, type Text } from "../model/texts.ts";
import type { ToolLockNode } from "../model/tool-lock.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import type { Backend, BackendLine, BackendUse } from "./backend.ts";
import type { AppLimitsConfig } from "./mcp/app-limits.ts";
import { withoutCredentials } from "./mcp/command-secrets.ts";
import { lowerMcp, type McpValue, mcpSchema } from "./mcp/file-form.ts";
import { type KubernetesMcpValue, kubernetesMcp } from "./mcp/manifest-form.ts";
import type {
  McpCommand,
  McpConfig,
  McpTargetConfig,
  NamedMcpTarget,
  PrefixMode,
} from "./mcp/mcp-config.ts";
import { type McpViewNode, resolveViews } from "./mcp/mcp-views.ts";
import { documentCopy } from "./mcp/openapi-copy.ts";
import { type OpenApiToolNode, openApiTools } from "./mcp/openapi-tools.ts";
import type { McpSessionsConfig } from "./mcp/sessions.ts";
import { reportOwnNames, reportSharedNames } from "./mcp/shared-names.ts";
import { checkCommand, checkPinned, checkShellSyntax } from "./mcp/stdio-command.ts";
import { lockChanges, resolveToolLock, serverText } from "./mcp/tool-lock.ts";
import type { ToolSearchConfig } from "./mcp/tool-search.ts";
import { resolveToolViews, type ToolViewNode } from "./mcp/tool-views.ts";
import { awsScopeOf } from "./parts/aws-scope.ts";
import type { BackendResolveContext } from "./parts/backend-resolve-context.ts";
import { type ConnectionContext, resolveConnection } from "./parts/connection.ts";
import { haveUsers } from "./parts/known-users.ts";
import { addressedServer } from "./parts/named-server.ts";
import { curlCommand, shellWord, type TryRequest } from "./parts/try-request.ts";

/** One or more MCP servers behind one endpoint. */
interface McpNode {
  readonly kind: "mcp";
  readonly isStateful: boolean;
  readonly failureMode: "failClosed" | "failOpen";
  readonly prefixMode: PrefixMode;
  readonly targets: readonly McpTargetNode[];
  /** Limits of sessions that hold resources; `undefined` for the defaults. */
  readonly sessions: McpSessionsNode | undefined;
  /** `undefined` if all tools that servers list are shown. */
  readonly toolLock: ToolLockNode | undefined;
  /** `undefined` if lists are always complete. */
  readonly toolSearch: Omit<ToolSearchConfig, "origin"> | undefined;
  readonly toolViews: readonly ToolViewNode[];
  readonly views: readonly McpViewNode[];
  /** `undefined` if apps may declare everything. */
  readonly apps: AppLimitsConfig | undefined;
  /** Weight for requests without a session, relative to the route's other backends; 0 for none. */
  readonly weight: number;
  readonly origin: Origin;
}

/** Configured limits of sessions; idle time in milliseconds. */
type McpSessionsNode = Omit<McpSessionsConfig, "origin">;

/** One MCP server of a backend. */
type McpTargetNode = NamedMcpTarget &
  (
    | {
        readonly kind: "streamable" | "sse";
        readonly url: Text;
        readonly connection: BackendConnection;
      }
    | McpCommand
    | {
        readonly kind: "openapi";
        readonly url: Text;
        readonly connection: BackendConnection;
        readonly tools: readonly OpenApiToolNode[];
      }
  );

/** Serves one or more MCP servers at one endpoint. */
export const mcp: Backend<"mcp", McpValue, McpConfig, McpNode, never, KubernetesMcpValue> = {
  kind: "mcp",
  summary: "serves MCP from one server, or from several combined into one",
  schema: mcpSchema,
  isNameable: true,
  lower: lowerMcp,
  kubernetes: kubernetesMcp,
  protocol: "mcp",
  takesWeight: "withOthers",
  carries: ({ config: { targets } }) =>
    // Policies of a route whose servers are added later act on their messages.
    targets.length === 0
      ? [{ traffic: ["mcp", "children", "mcpServers", ...NAMED_SERVER] }]
      : targets.map(({ kind, policies: own }) => ({
          traffic: kind === "stdio" ? ["mcp", "children"] : ["mcp", "mcpServers", ...NAMED_SERVER],
          own,
        })),
  names: ["backend", "allowedOrigins", "toolLock", "retryServer", "shares", "share"],
  resolve: resolveMcp,
  userConnections: ({ targets }) =>
    targets.flatMap((target) =>
      target.kind === "stdio" ? [] : (target.connection.userConnection ?? []),
    ),
  passesToken: ({ targets }) =>
    targets.some((target) => target.kind !== "stdio" && target.connection.isPassthrough),
  itemTargets: (config) => ({
    names: config.targets.map(({ name }) => name),
    arePrefixes: arePrefixed(config),
  }),
  serverPolicies: ({ targets }) =>
    targets.flatMap(({ name, own }) => (own === undefined ? [] : [{ name, ...own }])),
  startedServers: ({ targets }) =>
    targets.flatMap((target) =>
      target.kind === "stdio" ? [{ ...target, origin: childOf(target.origin, "stdio") }] : [],
    ),
  toolLock: {
    of: (node) => node.toolLock,
    without: (node) => ({ ...node, toolLock: undefined }),
    servers: (node) =>
      node.targets.map((target) => ({
        name: target.name,
        server: serverText(target),
        node: {
          ...node,
          targets: [target],
          prefixMode: "conditional",
          toolLock: undefined,
          toolSearch: undefined,
          toolViews: [],
          views: [],
          apps: undefined,
        },
      })),
    changes: lockChanges,
  },
  hasWaitingCalls: true,
  toolSets: {
    of: ({ toolViews, views, origin }) => [
      ...(toolViews.length === 0 ? [] : [{ view: undefined, tools: toolViews, origin }]),
      ...views.map(({ name, tools, origin: at }) => ({ view: name, tools, origin: at })),
    ],
    without: (node) => ({ ...node, toolViews: [], views: [] }),
  },
  describe: ({ targets }) => targets.map(describeTarget),
  tryCommand,
};

/**
 * Returns an MCP Inspector command that lists tools, or, if a host name or certificate must be overridden, a curl
 * command that sends `initialize`.
 */
function tryCommand(request: TryRequest): string {
  const { kind, value } = request.path;
  const path = { kind, value: kind === "prefix" && value === "/" ? "/mcp" : value };
  if (request.options.length > 0 || request.headers.some((each) => each.startsWith("host: "))) {
    const headers = [
      ...request.headers,
      "content-type: application/json",
      "accept: application/json, text/event-stream",
    ];
    return curlCommand({ ...request, path, method: undefined, headers }, ["-d", `'${INITIALIZE}'`]);
  }
  const url = shellWord(`${request.origin}${path.value}${request.search}`);
  const sent = request.headers.map((header) => ` --header ${shellWord(header)}`).join("");
  return `npx -y @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list${sent}`;
}

const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",' +
  '"capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}';

function resolveMcp(
  { config, policies, weight = 1, origin }: BackendUse<McpConfig>,
  context: BackendResolveContext,
): McpNode | undefined {
  const { targets, isStateful, prefixMode, failureMode, sessions } = config;
  const { toolLock: named, toolSearch: searched } = config;
  if (sessions !== undefined && targets.every(({ kind }) => kind === "streamable")) {
    context.diagnostics.report("misplaced-field", keyPlace(sessions.origin), {
      field: '"sessions"',
      actsOn: "child processes and SSE connections",
      found: undefined,
    });
    return undefined;
  }
  if (config.isEmptyAsWritten)
    context.diagnostics.report("no-targets", keyPlace(childOf(origin, "targets")), {});
  const seen = new Map<string, Origin>();
  const resolved = targets.flatMap((target) => {
    const { name, origin: at } = target;
    const first = seen.get(name);
    if (first !== undefined) {
      const related = [{ at: childOf(first, "name"), label: "first used here" }];
      context.diagnostics.report("duplicate-target", childOf(at, "name"), { name }, related);
    }
    seen.set(name, at);
    return resolveTarget(target, policies, context) ?? [];
  });
  const connections = resolved.flatMap((target) =>
    target.kind === "stdio" ? [] : [target.connection],
  );
  if (resolved.length < targets.length || !haveUsers(connections, context)) return undefined;
  const servers = resolved.map((target) => ({
    name: target.name,
    server: serverText(target),
    origin: target.origin,
  }));
  const toolLock = named && resolveToolLock(named, servers, context);
  if (named !== undefined && toolLock === undefined) return undefined;
  if (prefixMode === "never") reportSharedNames(resolved, toolLock, context.diagnostics);
  const names = { arePrefixed: arePrefixed(config), lock: toolLock };
  const toolViews = resolveToolViews(config.toolViews, resolved, names, context.diagnostics);
  if (toolViews === undefined) return undefined;
  const ambiguous = (["tools", "views"] as const).find(
    (field) => config[field === "tools" ? "toolViews" : "views"].length > 0,
  );
  if (prefixMode === "never" && targets.length > 1 && ambiguous !== undefined) {
    const place = childOf(origin, ambiguous);
    context.diagnostics.report("views-without-prefixes", place, { field: ambiguous });
    return undefined;
  }
  const own = searched === undefined ? [] : Object.values(searched.names);
  const endpoint = { targets: resolved, ...names, own };
  const views = resolveViews(config.views, endpoint, context.diagnostics);
  if (views === undefined) return undefined;
  if (searched !== undefined) {
    const reserved = { own, arePrefixed: names.arePrefixed };
    reportOwnNames(resolved, toolLock, reserved, context.diagnostics);
  }
  return {
    kind: "mcp",
    isStateful,
    prefixMode,
    failureMode,
    targets: resolved,
    sessions: sessions && sessionsNode(sessions),
    toolLock,
    toolSearch: searched && toolSearchNode(searched),
    toolViews,
    views,
    apps: config.apps,
    // Requests to no server at all are refused as those without a backend.
    weight: targets.length === 0 ? 0 : weight,
    origin,
  };
}

function toolSearchNode({ origin: _, ...settings }: ToolSearchConfig) {
  return settings;
}

/** Whether clients see tools and prompts with the name of their target. */
function arePrefixed({ targets, prefixMode }: Pick<McpConfig, "targets" | "prefixMode">): boolean {
  return prefixMode === "always" || (prefixMode !== "never" && targets.length > 1);
}

function sessionsNode({ idleTimeout, max, maxPerCaller }: McpSessionsConfig): McpSessionsNode {
  return { idleTimeout, max, maxPerCaller };
}

function resolveTarget(
  { policies: own, own: _, ...target }: McpTargetConfig,
  policies: BackendPolicies | undefined,
  context: ConnectionContext,
): McpTargetNode | undefined {
  const { name, origin } = target;
  if (target.kind === "stdio") {
    const at = childOf(origin, "stdio");
    checkCommand(target.command, at, context.diagnostics);
    checkPinned(target.command, target.args, at, context.diagnostics);
    checkShellSyntax(target.command, target.args, at, context.diagnostics);
    return { ...target, ...withoutCredentials(target, at, context) };
  }
  if (target.kind === "openapi") return resolveOpenApi(target, { general: policies, own }, context);
  const { kind, era } = target;
  const section = kind === "sse" ? "sse" : "mcp";
  const reference = { origin: childOf(origin, section, "backend"), user: section };
  const found = addressedServer(target.url, { ...reference, policies: own }, context);
  const isNamed = isServerName(target.url);
  const at = (isNamed ? found?.hostOrigin : undefined) ?? childOf(origin, section, "host");
  const base = isNamed ? found && forwardUrl(found.host, at, context.diagnostics) : found?.host;
  const url = isNamed ? base && endpointUrl(base, target.path, `/${section}`) : base;
  // The settings of an unknown server are checked all the same.
  const connection = resolveConnection(
    mergeBackendPolicies(policies, found === undefined ? own : found.policies),
    { ...context, takesUsers: kind !== "sse" },
    awsScopeOf(url),
  );
  if (url === undefined) return undefined;
  if (!checkUrl(url, at, context.diagnostics)) return undefined;
  if (kind !== "sse" && /\/sse\/?$/.test(shownText(url)))
    context.diagnostics.report("sse-address", at, {});
  return { kind, name, era, url: secureUrl(url, connection), connection, origin };
}

/** Resolves an OpenAPI target. Reports documents without tools, and operations that cannot become tools. */
function resolveOpenApi(
  {
    name,
    document,
    address,
    basePath,
    origin,
  }: Omit<Extract<McpTargetConfig, { kind: "openapi" }>, "policies" | "own">,
  { general, own }: Readonly<Record<"general" | "own", BackendPolicies | undefined>>,
  context: ConnectionContext,
): McpTargetNode | undefined {
  const at = childOf(origin, "openapi");
  const [form = "text"] = Object.keys(document);
  const place = childOf(at, "schema", ...(form === "text" ? [] : [form]));
  const file = "url" in document ? documentCopy(document.url) : "file" in document && document.file;
  const path = file === false ? undefined : context.resolvePath(file, place);
  const read =
    path === undefined
      ? ({ kind: "text", text: "text" in document ? document.text : "" } as const)
      : context.host.readText(path);
  if (path !== undefined && "url" in document && read.kind !== "text") {
    context.diagnostics.report("no-openapi-document", place, { url: document.url, file: path });
    return undefined;
  }
  const found =
    read.kind === "text"
      ? openApiTools(read.text)
      : { kind: read.kind, problem: `can't be read: ${read.problem}` };
  if (found.kind === "problem") {
    const isPath = "text" in document && /^[\w./-]+$/.test(document.text);
    const advice = isPath ? `write { file: ${document.text} }` : undefined;
    context.diagnostics.report("bad-openapi", place, { problem: found.problem, advice });
    return undefined;
  }
  for (const each of found.skipped) context.diagnostics.report("operation-left-out", place, each);
  const field = isServerName(address) ? "backend" : "host";
  const reference = { origin: childOf(at, field), user: "openapi", policies: own };
  const addressed = addressedServer(address, reference, context);
  const server = addressed && forwardUrl(addressed.host, addressed.hostOrigin, context.diagnostics);
  const policies = mergeBackendPolicies(
    general,
    addressed === undefined ? own : addressed.policies,
  );
  const url = server && below(server, basePath ?? found.basePath);
  const connection = resolveConnection(policies, { ...context, takesUsers: true }, awsScopeOf(url));
  if (url === undefined) return undefined;
  const { tools } = found;
  return {
    kind: "openapi",
    name,
    era: undefined,
    url: secureUrl(url, connection),
    connection,
    tools,
    origin,
  };
}

/** Returns the URL of a named backend's endpoint; `otherwise` if neither has a path. */
function endpointUrl(server: Text, path: string | undefined, otherwise: string): Text {
  const isWhole = typeof server === "string" && new URL(server).pathname !== "/";
  if (path === undefined && isWhole) return server;
  const rest = path ?? otherwise;
  if (typeof server === "string") return `${server.replace(/\/$/, "")}${rest}`;
  return { kind: "env", parts: [...server.parts, rest] };
}

/** Prepends the base path, unless the address has a path of its own. */
function below(server: Text, path: string): Text {
  if (typeof server !== "string") return { kind: "env", parts: [...server.parts, path] };
  return new URL(server).pathname === "/" ? `${server.replace(/\/$/, "")}${path}` : server;
}

function describeTarget(target: McpTargetNode): BackendLine {
  const { name: label } = target;
  if (target.kind === "stdio") return { label, address: `stdio: ${target.command}` };
  const { kind, url } = target;
  const address =
    typeof url === "string" ? `${kind}: ${url}` : { ...url, parts: [`${kind}: `, ...url.parts] };
  return { label, address };
}
