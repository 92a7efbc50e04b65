import type { BackendNode } from "../../compiler/ir/backends.ts";
import type { ServedHost } from "../../compiler/ir/routes.ts";
import type { RouteMatch } from "../../compiler/model/matches.ts";
import type { McpLimits } from "../../runtime/mcp/transports/backend.ts";
import {
  defaultMcpLimits,
  defaultMcpTimeouts,
  defaultStdioLimits,
} from "../../runtime/mcp/transports/default-limits.ts";
import { code, extension, literal } from "../code/code.ts";
import type { Code, Name, Printable } from "../code/hole.ts";
import { name as identifier, imported, importedType } from "../code/names.ts";
import { bytes, changed, milliseconds, nonEmpty } from "../code/units.ts";
import type {
  AtLeastOne,
  BackendCode,
  BackendScope,
  BackendTemplate,
  ShareCode,
} from "./backend.ts";
import { passthrough, upstreamSettings } from "./parts/connection.ts";
import { toolFront, views } from "./parts/tool-front.ts";
import { readsUser, targetUsers } from "./parts/user-connection.ts";

const MODULE = "gwc/runtime/mcp/transports/backend";
const toStateless = imported("gwc/runtime/mcp/bridge/to-stateless", "toStateless");
const toSessions = imported("gwc/runtime/mcp/bridge/to-sessions", "toSessions");
const toSingleCalls = imported("gwc/runtime/mcp/bridge/to-single-calls", "toSingleCalls");
const toOnlyTarget = imported("gwc/runtime/mcp/passthrough/passthrough", "toOnlyTarget");
const sentTrace = imported("gwc/runtime/mcp/transports/sent-trace", "sentTrace");
const UNCONNECTED = {
  mcp: imported("gwc/runtime/mcp/transports/unconnected-mcp", "unconnectedMcp"),
  api: imported("gwc/runtime/mcp/transports/unconnected-mcp", "unconnectedApi"),
};
const BATCHES = "gwc/runtime/mcp/batch/batches";
const SHARES = "gwc/runtime/mcp/shares";
const LIMITS = "gwc/runtime/mcp/transports/default-limits";

type McpNode = BackendNode<"mcp">;

const refusalFormat = imported("gwc/runtime/mcp/protocol/json-rpc-refusal", "jsonRpcRefusal");

/** An MCP endpoint in front of one or more servers. */
export const mcpTemplate: BackendTemplate<"mcp"> = {
  code: mcpCode,
  share: (node, before, scope) => servedCode(node, scope, before),
  seals: () => "sessions",
  reads: ({ targets }) =>
    readsUser(targets.flatMap((each) => (each.kind === "stdio" ? [] : [each.connection]))),
  toolCaller: ({ toolSearch }) => toolSearch?.names.call,
  handover: imported("gwc/runtime/mcp/session-handover", "sessionHandover"),
  maxThreads: (node) => Math.min(...Object.values(sessionLimits(node))),
  keepsLimits: true,
  refusalFormat,
};

function mcpCode([backend]: AtLeastOne<McpNode>, scope: BackendScope): BackendCode {
  const { declarations, token, call, shared } = servedCode(backend, scope, undefined);
  return {
    declarations: [...declarations, ...shared.declarations],
    first: shared.first,
    guard: shared.guard,
    step: [
      ...token,
      ...(scope.variables.hasIdentity ? [] : metadata(backend, scope.hosts)),
      code`return ${call};`,
    ],
    isAsync: false,
    mayWait: true,
  };
}

/** Writes a backend on its own, or one of several; `before`: the earlier ones. */
function servedCode(
  backend: McpNode,
  scope: BackendScope,
  before: readonly McpNode[] | undefined,
): ShareCode {
  const { hasIdentity } = scope.variables;
  const place = (before?.length ?? 0) + 1;
  const label = (text: string) => identifier(place === 1 ? text : `${text}${place}`);
  const again = {
    server: label(before === undefined ? toServer.constant : toServer.shared),
    api: label(toApi.constant),
  };
  const hostnames = [...new Set(scope.hosts.map(({ hostname }) => hostname))];
  const open = imported(MODULE, "openMcpBackend");
  const settings = {
    route: scope.route.name,
    targets: backend.targets.map((node) =>
      target(
        node,
        hasIdentity ? "withhold" : "forward",
        scope.tries === undefined ? undefined : again,
      ),
    ),
    prefix: backend.prefixMode === "always" || backend.targets.length > 1 || undefined,
    ...(backend.prefixMode === "never" &&
      backend.targets.length > 1 && {
        owners: code`${imported("gwc/runtime/mcp/aggregate/owned-items", "itemOwners")}()`,
      }),
    toolFront: toolFront(backend),
    views: views(backend),
    narrowApps: narrowApps(backend),
    failureMode: backend.failureMode,
    ruledMethods: nonEmpty(scope.mcpMethods),
    timeouts: timeouts(backend, scope),
    limits: limits(backend, scope),
    ...(backend.targets.some(mayBeStateless) && { toStateless: code`${toStateless}` }),
    ...(backend.targets.some(({ era }) => era !== "stateless") && {
      toSessions: code`${toSessions}`,
    }),
    ...(before === undefined && isPassed(backend) && { toOnlyTarget: code`${toOnlyTarget}` }),
    ...(!backend.isStateful && { toSingleCalls: code`${toSingleCalls}` }),
    ...(scope.tracing && { sentTrace: code`${sentTrace}(${scope.tracing})` }),
  };
  const alone = code`${open}(${literal(settings)})`;
  const same = before?.filter((each) => hasSameServers(each, backend)).length;
  const opened =
    same === undefined
      ? alone
      : code`
          ${imported(SHARES, "sharedBackend")}(
            ${alone},
            ${literal(same)},
          )
        `;
  const authorize =
    scope.mcpRule ?? code`${imported("gwc/runtime/mcp/rules/authorization", "allowEverything")}`;
  const access = literal({
    jwt: scope.variables.argument("jwt"),
    authorize,
    ...(scope.mcpStepUp && { stepUp: scope.mcpStepUp }),
    ...(scope.mcpArguments && { readArguments: code`${scope.mcpArguments}` }),
    ...(backend.toolLock && { toolLock: label("toolLock") }),
  });
  const allowedOrigins = {
    hostnames: hostnames.includes("*") ? undefined : hostnames,
    allowOrigins: scope.allowedOrigins,
  };
  const origin = "gwc/runtime/mcp/origin";
  const serve = imported("gwc/runtime/mcp/serve", "serveMcp");
  return {
    declarations: [
      ...retries(backend, again, scope),
      ...toolLock(backend, label("toolLock"), scope),
      code`
        ${scope.trace(backend.origin)}
        const ${label("backend")} = ${opened};
      `,
    ],
    backend: label("backend"),
    token: passthrough(
      backend.targets.flatMap((node) => (node.kind === "stdio" ? [] : [node.connection])),
    ),
    call: code`${serve}(exchange, ${label("backend")}, ${access})`,
    shared: {
      declarations: [
        code`const allowedOrigins: ${importedType(origin, "OriginSettings")} = ${literal(allowedOrigins)};`,
      ],
      first: [
        code`exchange.refusalFormat = ${refusalFormat};`,
        code`if (${imported(BATCHES, "mayBeBatch")}(exchange)) return ${imported(BATCHES, "serveBatch")}(exchange, ${identifier(scope.route.id)});`,
      ],
      guard: [
        code`if (${imported(origin, "refuseForeignOrigin")}(exchange, allowedOrigins)) return;`,
      ],
    },
  };
}

/** Writes the limits of apps; `undefined` if there are none. */
function narrowApps({ apps }: McpNode): Printable | undefined {
  const open = imported("gwc/runtime/mcp/aggregate/app-limits", "appLimits");
  if (apps === undefined) return undefined;
  const limits = Object.entries(apps).map(([member, limit]) => [member, limit?.allowed]);
  return code`${open}(${literal(Object.fromEntries(limits))})`;
}

/** Returns whether two backends differ only in their places. */
function hasSameServers(one: McpNode, other: McpNode): boolean {
  const [servers, others] = [one, other].map(({ targets }) =>
    JSON.stringify(targets, (key, each: unknown) => (key === "origin" ? undefined : each)),
  );
  return servers === others;
}

/** Milliseconds for which a server's lists are valid before a call. */
const LISTED_FOR = 10_000;

/** Declares the constant with the approved items. */
function toolLock(
  { toolLock: lock, targets }: McpNode,
  label: Name,
  { trace }: BackendScope,
): readonly Code[] {
  if (lock === undefined) return [];
  const open = imported("gwc/runtime/mcp/rules/tool-lock", "openToolLock");
  const locked = targets.map(({ name }) => {
    const { instructions, items = [] } = lock.targets.find((each) => each.name === name) ?? {};
    const lists = Map.groupBy(items, ({ list }) => list);
    const byName = [...lists].map(([list, each]) => [
      list,
      Object.fromEntries(each.map((item) => [item.name, item.digests])),
    ]);
    const definitions = Object.fromEntries(byName);
    return [
      name,
      instructions === undefined
        ? definitions
        : { instructions: instructions.digest, ...definitions },
    ] as const;
  });
  const settings = { maxAge: milliseconds(LISTED_FOR), targets: Object.fromEntries(locked) };
  return [
    code`
      ${trace(lock.origin)}
      const ${label} = ${open}(${literal(settings)});
    `,
  ];
}

/** Returns whether clients with sessions may need a bridge to it. */
function mayBeStateless({ kind, era }: McpNode["targets"][number]): boolean {
  return kind !== "sse" && era !== "sessions";
}

/** Declares the constants with the retries of requests to servers. */
function retries(
  { targets }: McpNode,
  names: RetryNames,
  { tries, trace }: BackendScope,
): readonly Code[] {
  if (tries === undefined) return [];
  const kinds = [...new Set(targets.map(({ kind }) => retryOf[kind]))];
  return kinds.flatMap((retry) => {
    if (retry === undefined) return [];
    const make = retry === "api" ? toApi.make : toServer.make;
    const repeated = imported("gwc/runtime/mcp/transports/repeated-server", make);
    return [
      code`
        ${trace(tries.origin)}
        const ${names[retry]} = ${repeated}(${literal(tries.settings)});
      `,
    ];
  });
}

/** Names of the constants. `shared`: used if upstreams of forwarded requests use the first name. */
const toServer = { constant: "retry", shared: "retryServer", make: "repeatedServer" } as const;
const toApi = { constant: "retryApi", make: "repeatedApi" } as const;

/** Names of the constants. */
type RetryNames = Readonly<Record<"server" | "api", Name>>;

/** Retries by kind of server; requests to a child process are not retried. */
const retryOf = {
  streamable: "server",
  sse: "server",
  openapi: "api",
  stdio: undefined,
} as const;

/** Writes the timeouts. Requests to all servers have a shorter one, which limits of a route can only shorten. */
function timeouts(
  { sessions }: McpNode,
  { limits: { request, attempt } }: BackendScope,
): Printable {
  const { idle, initialize, fanOut } = defaultMcpTimeouts;
  const own = [request, attempt].filter((each) => each !== undefined);
  const limit = own.length === 0 ? undefined : Math.min(...own);
  const within = (before: number) =>
    changed(Math.min(before, limit ?? before), before, milliseconds);
  return extension(imported(LIMITS, "defaultMcpTimeouts"), {
    request: changed(limit, undefined, milliseconds),
    initialize: within(initialize),
    fanOut: within(fanOut),
    idle: changed(sessions?.idleTimeout, idle, milliseconds),
  });
}

/** Writes the limits. Sessions with child processes are limited to fewer. */
function limits(node: McpNode, { maxBufferSize }: BackendScope): Printable {
  const base = imported(LIMITS, isStdio(node) ? "defaultStdioLimits" : "defaultMcpLimits");
  const before = defaultLimits(node);
  const { sessions, sessionsPerCaller } = sessionLimits(node);
  return extension(base, {
    body: changed(maxBufferSize, before.body, bytes),
    sessions: changed(sessions, before.sessions),
    sessionsPerCaller: changed(sessionsPerCaller, before.sessionsPerCaller),
  });
}

function sessionLimits(node: McpNode): Pick<McpLimits, "sessions" | "sessionsPerCaller"> {
  const max = node.sessions?.max ?? defaultLimits(node).sessions;
  return { sessions: max, sessionsPerCaller: node.sessions?.maxPerCaller ?? Math.ceil(max / 2) };
}

function defaultLimits(node: McpNode): McpLimits {
  return isStdio(node) ? defaultStdioLimits : defaultMcpLimits;
}

function isStdio({ targets }: McpNode): boolean {
  return targets.some(({ kind }) => kind === "stdio");
}

/** Returns whether messages are for the only server, and need not be changed. */
function isPassed({ targets, prefixMode, toolSearch, toolViews, views, apps }: McpNode): boolean {
  const isOnly = targets.length === 1 && targets[0]?.kind === "streamable";
  const isChanged =
    toolSearch !== undefined || toolViews.length > 0 || views.length > 0 || apps !== undefined;
  return isOnly && prefixMode !== "always" && !isChanged;
}

/**
 * Returns whether the server is its own OAuth resource server and serves its metadata: a single server on a route
 * without token check.
 */
function metadata(backend: McpNode, served: readonly ServedHost[]): readonly Code[] {
  const prefixes = metadataOf(served.flatMap(({ matches }) => matches));
  if (!isPassed(backend) || prefixes.length === 0) return [];
  const pass = imported("gwc/runtime/mcp/passthrough/passthrough", "passMetadata");
  return [code`if (${pass}(exchange, backend, ${literal(prefixes)})) return;`];
}

/**
 * Returns the prefixes of the resources that a route serves if its matches include requests for their OAuth metadata;
 * otherwise none. Regular expressions may match anything.
 */
function metadataOf(matches: readonly RouteMatch[]): readonly string[] {
  const paths = matches.map(({ path: { kind, value } }) =>
    kind === "regex" ? "" : value.replace(/\/$/, ""),
  );
  if (!paths.some((path) => path === "" || WELL_KNOWN.test(path))) return [];
  const resources = paths
    .filter((path) => path !== "/.well-known")
    .map((path) => path.replace(WELL_KNOWN, ""));
  return resources.length === 0 || resources.includes("") ? [""] : [...new Set(resources)];
}

/** Prefixes of metadata paths, before the path of the resource (RFC 9728 3.1, RFC 8414 3.1). */
const WELL_KNOWN =
  /^\/\.well-known(?:\/oauth-protected-resource|\/oauth-authorization-server)?(?=\/|$)/;

/**
 * Writes a server. `withhold`: the gateway checked the client's credentials, so they were for it and are not
 * forwarded. Without a check, they are for the server.
 */
function target(
  node: McpNode["targets"][number],
  credentials: "withhold" | "forward",
  again: RetryNames | undefined,
): Code {
  const { name } = node;
  const era = node.era && { era: node.era };
  switch (node.kind) {
    case "streamable":
    case "sse": {
      const make = imported(MODULE, node.kind === "sse" ? "sse" : "streamableHttp");
      const settings = {
        name,
        ...upstreamSettings(node.url, node.connection),
        credentials: node.connection.isPassthrough ? "token" : credentials,
        user: targetUsers(node.connection, UNCONNECTED.mcp),
        ...(again && { retry: again.server }),
        ...(node.kind === "streamable" && era),
      };
      return code`${make}(${literal(settings)})`;
    }
    case "openapi": {
      const settings = {
        name,
        ...upstreamSettings(node.url, node.connection),
        credentials: node.connection.isPassthrough ? "token" : credentials,
        user: targetUsers(node.connection, UNCONNECTED.api),
        ...(again && { retry: again.api }),
        tools: node.tools.map((tool) => ({ ...tool })),
      };
      return code`${imported("gwc/runtime/mcp/transports/openapi", "openapi")}(${literal(settings)})`;
    }
    case "stdio": {
      const { command, args, env, cwd, isEnvironmentCleared } = node;
      const start = isEnvironmentCleared ? "stdioInOwnEnvironment" : "stdio";
      const isSame = !isEnvironmentCleared && Object.keys(env).length === 0;
      const settings = { name, command, args, env: isSame ? undefined : env, cwd, ...era };
      return code`${imported(MODULE, start)}(${literal(settings)})`;
    }
  }
}
