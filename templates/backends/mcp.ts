import type { McpBackendNode, McpTargetNode } from "../../compiler/ir/backends.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import { type Code, code, imported, importedType, literal } from "../code/code.ts";
import type { Trace } from "../code/trace.ts";
import type { BackendCode } from "./backend.ts";
import { passthrough, upstreamSettings } from "./connection.ts";

const MODULE = "gwc/runtime/mcp/transports/backend";

/** What the route around an MCP backend settled. */
export interface McpScope {
  readonly route: RouteNode;
  readonly trace: Trace;
  /** The rule function, when there is mcpAuthorization. */
  readonly rule: Code | undefined;
  /** The verified claims, or null. */
  readonly jwt: Code;
  /** True when a policy checked the client's credentials. */
  readonly isAuthenticated: boolean;
  /** Origins of the CORS policy: pages that may use the endpoint. */
  readonly allowOrigins: readonly string[];
  /** Hostnames that the route answers; empty for any. */
  readonly hostnames: readonly string[];
  /** The most bytes of a client's message. */
  readonly maxBufferSize: number;
  /** The prefixes of what the route serves, when its matches let a request for `/.well-known/...` in. */
  readonly metadataOf: readonly string[];
}

/** The most bytes of one message of a server. */
const MESSAGE_LIMIT = 67_108_864;

/** Sessions that hold something open: a child process takes tens of megabytes, a stream a few kilobytes. */
const SESSIONS = { stdio: 100, other: 1000 };

/** Milliseconds. */
const TIMEOUTS = {
  initialize: 60_000,
  fanOut: 10_000,
  call: 300_000,
  idle: 1_800_000,
  keepAlive: 15_000,
};

/** An MCP endpoint in front of one or more servers. */
export function mcpBackend(backend: McpBackendNode, scope: McpScope): BackendCode {
  const open = imported(MODULE, "openMcpBackend");
  const settings = {
    route: scope.route.name,
    targets: backend.targets.map((node) =>
      target(node, scope.isAuthenticated ? "withhold" : "forward"),
    ),
    prefix: backend.prefixMode === "always" || backend.targets.length > 1,
    failureMode: backend.failureMode,
    timeouts: TIMEOUTS,
    limits: {
      body: scope.maxBufferSize,
      message: MESSAGE_LIMIT,
      sessions: backend.targets.some(({ kind }) => kind === "stdio")
        ? SESSIONS.stdio
        : SESSIONS.other,
    },
  };
  const authorize =
    scope.rule ?? code`${imported("gwc/runtime/mcp/rules/authorization", "allowEverything")}`;
  const access = literal({ jwt: scope.jwt, authorize });
  const allowedOrigins = { hostnames: scope.hostnames, allowOrigins: scope.allowOrigins };
  const origin = "gwc/runtime/mcp/origin";
  const token = passthrough(
    backend.targets.flatMap((node) => (node.kind === "stdio" ? [] : [node.connection])),
  );
  return {
    declarations: [
      code`
        ${scope.trace(backend.origin)}
        const backend = ${open}(${literal(settings)});
      `,
      code`const allowedOrigins: ${importedType(origin, "OriginSettings")} = ${literal(allowedOrigins)};`,
    ],
    first: [code`exchange.refusalFormat = "json-rpc";`],
    guard: [
      code`if (${imported(origin, "refuseForeignOrigin")}(exchange, allowedOrigins)) return;`,
    ],
    step: [
      ...token,
      ...metadata(backend, scope),
      code`return ${imported("gwc/runtime/mcp/serve", "serveMcp")}(exchange, backend, ${access});`,
    ],
    isAsync: true,
  };
}

/** A single server behind a route without token check is its own OAuth resource server: it answers for its metadata. */
function metadata({ targets, prefixMode }: McpBackendNode, scope: McpScope): readonly Code[] {
  const isPassthrough =
    targets.length === 1 && targets[0]?.kind === "streamable" && prefixMode !== "always";
  if (!isPassthrough || scope.isAuthenticated || scope.metadataOf.length === 0) return [];
  const pass = imported("gwc/runtime/mcp/passthrough/passthrough", "passMetadata");
  return [code`if (${pass}(exchange, backend, ${literal(scope.metadataOf)})) return;`];
}

/**
 * `withhold`: the gateway checked the client's credentials, so they were meant for it and stay here. Without a check
 * they are the server's.
 */
function target(node: McpTargetNode, credentials: "withhold" | "forward"): Code {
  const { name } = node;
  switch (node.kind) {
    case "streamable":
    case "sse": {
      const make = imported(MODULE, node.kind === "sse" ? "sse" : "streamableHttp");
      const settings = {
        name,
        ...upstreamSettings(node.url, node.connection),
        credentials: node.connection.isPassthrough ? "token" : credentials,
      };
      return code`${make}(${literal(settings)})`;
    }
    case "stdio": {
      const { command, args, env } = node;
      return code`${imported(MODULE, "stdio")}(${literal({ name, command, args, env })})`;
    }
  }
}
