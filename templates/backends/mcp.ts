import type { McpBackend, McpTarget, RouteNode } from "../../compiler/ir.ts";
import { type Code, code, imported, literal } from "../code.ts";
import type { Trace } from "../trace.ts";
import type { BackendCode } from "./backend.ts";
import { CONNECT_TIMEOUT } from "./host.ts";

/** What the route around an MCP backend settled. */
export interface McpScope {
  readonly route: RouteNode;
  readonly trace: Trace;
  /** The rule function, when there is mcpAuthorization. */
  readonly rule: Code | undefined;
  /** True when a policy declared `jwt`. */
  readonly hasJwt: boolean;
  /** Origins of the CORS policy: pages that may use the endpoint. */
  readonly allowOrigins: readonly string[];
  /** Hostnames that the route answers; empty for any. */
  readonly hostnames: readonly string[];
}

/** An MCP endpoint in front of one or more servers. */
export function mcpBackend(backend: McpBackend, scope: McpScope): BackendCode {
  const open = imported("gwc/runtime/mcp/backend", "openMcpBackend");
  const settings = {
    route: scope.route.name,
    targets: backend.targets.map(target),
    prefix: backend.prefixMode === "always" || backend.targets.length > 1,
    failureMode: backend.failureMode,
    hostnames: scope.hostnames,
    allowOrigins: scope.allowOrigins,
  };
  const allows = scope.rule ?? code`${imported("gwc/runtime/mcp/access", "allowEverything")}`;
  const access = literal({ jwt: scope.hasJwt ? code`jwt` : null, allows });
  return {
    declarations: [
      code`
        ${scope.trace(backend.origin)}
        const backend = ${open}(${literal(settings)});
      `,
    ],
    first: [code`exchange.refusalFormat = "json-rpc";`],
    step: code`return ${imported("gwc/runtime/mcp/serve", "serveMcp")}(exchange, backend, ${access});`,
    isAsync: true,
  };
}

function target(node: McpTarget): Code {
  const { name } = node;
  switch (node.kind) {
    case "streamable":
    case "sse": {
      const make = node.kind === "sse" ? "sse" : "streamableHttp";
      return code`${imported("gwc/runtime/mcp/target", make)}(${literal({ name, url: node.url, connectTimeout: CONNECT_TIMEOUT })})`;
    }
    case "stdio": {
      const { command, args, env } = node;
      return code`${imported("gwc/runtime/mcp/target", "stdio")}(${literal({ name, command, args, env })})`;
    }
  }
}
