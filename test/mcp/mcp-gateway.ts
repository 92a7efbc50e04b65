import path from "node:path";
import { Gateway, type GatewayOptions, startGateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import type { GatewayFixture, RouteConfig } from "./gateway-config.ts";
import { issuer, keySet } from "./subjects.ts";

type Environment = Readonly<Record<string, string>>;

/** Starts a compiled gateway with these routes; its URL is that of `/mcp`. `options`: for building and running it. */
export async function startMcpGateway(
  routes: readonly RouteConfig[],
  env: Environment = {},
  options: GatewayOptions & { readonly file?: object } = {},
): Promise<Gateway> {
  const listeners = [{ routes: routes.map(routeOf) }];
  const gateway = await startGateway({ listeners, ...options, env: { ...options.env, ...env } });
  gateway.path = "/mcp";
  return gateway;
}

/** Starts a gateway with timeouts and limits that no configuration can set: see fixtures/gateway.ts. */
export async function startHandwritten(
  fixture: GatewayFixture,
  env: Environment = {},
): Promise<Gateway> {
  const folder = path.join(import.meta.dirname, "fixtures");
  const gateway = new Gateway(ownScript("mcp/fixtures/gateway.ts"), folder, {
    ...env,
    GATEWAY_FIXTURE: JSON.stringify(fixture),
  });
  gateway.path = "/mcp";
  return gateway.listening();
}

/** Returns the route as configured in a file. */
function routeOf({
  name,
  path = "/mcp",
  targets,
  failureMode,
  sessions,
  statefulMode,
  rules,
  allowOrigins,
  hasSubjects,
}: RouteConfig) {
  const jwtAuth = { mode: "optional", issuer, jwks: { inline: keySet } };
  return {
    name,
    matches: [{ path: { exact: path } }],
    policies: {
      ...(allowOrigins === undefined ? {} : { cors: { allowOrigins, allowHeaders: ["*"] } }),
      ...(hasSubjects === true ? { jwtAuth } : {}),
      ...(rules === undefined ? {} : { mcpAuthorization: { rules } }),
    },
    // Fields with the value `undefined` are omitted.
    backends: [
      JSON.parse(JSON.stringify({ mcp: { targets, failureMode, statefulMode, sessions } })),
    ],
  };
}
