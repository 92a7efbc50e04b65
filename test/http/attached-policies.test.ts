import { beforeAll, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { Workspace } from "../harness/workspace.ts";
import { complaints } from "../kubernetes/manifests.ts";
import { initialize, post } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";

let gateway: Gateway;
let echo: Echo;
let ports: readonly number[];

const header = (name: string, value: string) => ({
  requestHeaderModifier: { set: { [name]: value } },
});

beforeAll(async () => {
  echo = await startEcho();
  const mcp = await startUpstream(mcpResponses({}));
  ports = await freePorts(3);
  const [first = 0, second = 0, door = 0] = ports;
  const host = new URL(echo.url).host;
  const route = (name: string, policies?: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    ...(policies && { policies }),
    backends: [{ host }],
  });
  gateway = await startGateway({
    config: JSON.stringify({
      policies: [
        {
          name: { name: "everything", namespace: "default" },
          target: { gateway: { gatewayName: "default", gatewayNamespace: "default" } },
          policy: {
            authorization: {
              rules: [
                { deny: '"x-team" in request.headers && request.headers["x-team"] == "red"' },
              ],
            },
            ...header("by", "gateway"),
            mcpAuthorization: { rules: ['mcp.tool.name == "none"'] },
          },
        },
        { target: { gateway: { port: second } }, policy: header("by", "port") },
        { target: { gateway: { listenerName: "named" } }, policy: header("by", "listener") },
        {
          target: { route: { name: "own" } },
          policy: {
            authorization: { rules: [{ deny: 'request.path == "/own/closed"' }] },
            ...header("by", "name of the route"),
          },
        },
        {
          target: { gateway: { listenerName: "named" } },
          phase: "gateway",
          policy: { cors: { allowOrigins: ["https://app.test"] } },
        },
        { target: { route: { name: "leaf" } }, policy: header("by", "leaf") },
      ],
      binds: [
        {
          port: first,
          listeners: [
            {
              routes: [
                route("plain"),
                route("own"),
                route("itself", header("by", "route")),
                {
                  name: "group",
                  matches: [{ path: { pathPrefix: "/group" } }],
                  backends: [{ routeGroup: "g" }],
                },
              ],
            },
          ],
        },
        {
          port: second,
          listeners: [
            { name: "named", hostname: "named.test", routes: [route("plain"), route("own")] },
            { routes: [route("plain")] },
          ],
        },
      ],
      routeGroups: [
        {
          name: "g",
          routes: [
            {
              name: "leaf",
              matches: [{ path: { pathPrefix: "/group/leaf" } }],
              backends: [{ host }],
            },
            { matches: [{ path: { pathPrefix: "/group/other" } }], backends: [{ host }] },
          ],
        },
      ],
      mcp: { port: door, targets: [{ name: "a", mcp: { host: mcp.url } }] },
    }),
  });
  for (const port of ports) await gateway.seen(new RegExp(`listening on [^:]+:${port}`));
});

async function by(port: number | undefined, path: string, headers: Record<string, string> = {}) {
  const { status, body } = await send(`http://127.0.0.1:${port}${path}`, "GET", headers);
  return status === 200 ? JSON.parse(body).headers.by : status;
}

it("the most specific policy applies, and rules are joined", async () => {
  const [first, second] = ports;
  const named = { host: "named.test" };
  expect(await by(first, "/plain")).toBe("gateway");
  expect(await by(second, "/plain")).toBe("port");
  expect(await by(second, "/plain", named)).toBe("listener");
  expect(await by(first, "/own")).toBe("name of the route");
  expect(await by(second, "/own", named)).toBe("name of the route");
  expect(await by(first, "/itself")).toBe("route");
  expect(await by(first, "/group/leaf")).toBe("leaf");
  expect(await by(first, "/group/other")).toBe("gateway");
  const red = { "x-team": "red" };
  for (const path of ["/plain", "/own", "/itself", "/group/leaf", "/group/other"])
    expect([path, await by(first, path, red)]).toEqual([path, 403]);
  expect(await by(first, "/own/closed")).toBe(403);
});

it("what is said of the gateway holds for its front doors, and before routing where that is asked", async () => {
  const [first, second, door] = ports;
  expect((await post(`http://127.0.0.1:${door}/mcp`, initialize, { "x-team": "red" })).status).toBe(
    403,
  );
  expect((await post(`http://127.0.0.1:${door}/mcp`, initialize)).status).toBe(200);
  const asked = { origin: "https://app.test", "access-control-request-method": "GET" };
  const preflight = async (port: number | undefined, host: string) =>
    (await send(`http://127.0.0.1:${port}/nowhere`, "OPTIONS", { ...asked, host })).headers[
      "access-control-allow-origin"
    ];
  expect(await preflight(second, "named.test")).toBe("https://app.test");
  expect(await preflight(first, "named.test")).toBeUndefined();
});

/** Returns the diagnostics of a file with these policies and one route. */
function told(...policies: readonly object[]): readonly string[] {
  const routes = [{ name: "one", backends: [{ host: "a.test:80" }] }];
  const binds = [{ port: 3000, listeners: [{ name: "main", routes }] }];
  const host = memoryHost({ "gateway.yaml": JSON.stringify({ policies, binds }) });
  return complaints(checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false }));
}

it("targets that are not there, and what can't act there, are mistakes", () => {
  const csrf = { csrf: {} };
  const cors = (origin: string) => ({ cors: { allowOrigins: [origin] } });
  expect(told({ target: { gateway: {} }, policy: csrf })).toEqual([]);
  expect(told({ target: { route: { name: "on" } }, policy: csrf })).toEqual([
    '1 missing-reference: there is no route "on"',
  ]);
  expect(told({ target: { gateway: { listenerName: "mian" } }, policy: csrf })).toEqual([
    '1 missing-reference: there is no listener "mian"',
  ]);
  expect(told({ target: { gateway: { port: 3001 } }, policy: csrf })).toEqual([
    "1 missing-reference: there is no listener of port 3001",
  ]);
  expect(told({ target: { gateway: { gatewayName: "other" } }, policy: csrf })).toEqual([
    '1 missing-reference: there is no gateway "other"',
  ]);
  expect(told({ target: { backend: { backend: {} } }, policy: csrf })).toEqual([
    expect.stringContaining('not-built-yet: "backend" is not supported yet'),
  ]);
  expect(
    told({
      target: { gateway: {} },
      phase: "gateway",
      policy: { timeout: { requestTimeout: "1s" } },
    }),
  ).toEqual([expect.stringContaining('misplaced-field: "timeout" applies to routes')]);
  expect(
    told({ target: { gateway: {} }, policy: { mcpAuthorization: { rules: ["true"] } } }),
  ).toEqual([
    expect.stringContaining('misplaced-field: "mcpAuthorization" applies to MCP messages'),
  ]);
  const twice = [cors("https://a.test"), cors("https://b.test")];
  expect(told(...twice.map((policy) => ({ target: { gateway: {} }, policy })))).toEqual([
    '1 attached-twice: "cors" is configured twice for the same target',
  ]);
});

it("gwc explain route shows every place of its rules", async () => {
  const rule = (text: string) => ({ authorization: { rules: [{ deny: text }] } });
  const config = {
    policies: [{ target: { gateway: {} }, policy: rule('request.path == "/a"') }],
    binds: [
      {
        port: 3000,
        listeners: [
          {
            routes: [
              {
                name: "one",
                policies: rule('request.path == "/b"'),
                backends: [{ host: "a.test:80" }],
              },
            ],
          },
        ],
      },
    ],
  };
  const { folder } = new Workspace({ "gateway.yaml": JSON.stringify(config) });
  const { stdout } = await gwc(["explain", "route", "one"], { cwd: folder });
  expect(stdout).toMatch(/by its target[\s\S]*"\/a"[\s\S]*on the route[\s\S]*"\/b"/);
});

it("a policy can target one rule of the routes with a name, and logs show it", async () => {
  const [port] = await freePorts(1);
  const host = new URL(echo.url).host;
  const rule = (ruleName: string) => ({
    ...{ name: "shop", ruleName, backends: [{ host }] },
    matches: [{ path: { pathPrefix: `/${ruleName}` } }],
  });
  const shop = await startGateway({
    config: JSON.stringify({
      gateways: { default: { port } },
      routes: [rule("cart"), rule("stock")],
      policies: [
        { target: { route: { name: "shop" } }, policy: header("by", "route") },
        { target: { route: { name: "shop", ruleName: "stock" } }, policy: header("by", "rule") },
      ],
    }),
  });
  const by = async (path: string) =>
    JSON.parse((await send(`${shop.url}${path}`, "GET")).body).headers.by;
  expect(await by("/cart")).toBe("route");
  expect(await by("/stock")).toBe("rule");
  await shop.seen(/route=shop\/stock /);
});
