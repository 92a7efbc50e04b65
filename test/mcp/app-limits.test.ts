import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

let upstream: RawUpstream;
let gateway: Gateway;

const uri = "ui://main.html";
const apps = {
  connectDomains: ["https://api.example.com", "https://*.widgets.example"],
  frameDomains: [],
  permissions: ["clipboardWrite"],
};

beforeAll(async () => {
  upstream = await startUpstream(mcpResponses({}));
  const one = { name: "one", mcp: { host: upstream.url } };
  const route = (exact: string, mcp: object) => ({
    matches: [{ path: { exact } }],
    backends: [{ mcp }],
  });
  const routes = [
    route("/single", { targets: [one], apps }),
    route("/merged", { targets: [one, { ...one, name: "two" }], apps }),
    route("/open", { targets: [one, { ...one, name: "two" }] }),
  ];
  gateway = await startGateway({ listeners: [{ routes }] });
});

/** Lets the server declare this for its app, in the list and in the contents. `ui`: JSON text. */
function declare(ui: string): void {
  const meta = `"_meta":{"ui":${ui}}`;
  upstream.response = mcpResponses({
    "resources/list": `{"resources":[{"uri":"${uri}","name":"n",${meta}}]}`,
    "resources/read": `{"contents":[{"uri":"${uri}","text":"csp",${meta}}]}`,
  });
}

type Declared = { readonly _meta: { readonly ui: unknown } };

/** Returns what a client learns of the app: from the list, and from the contents. */
async function learned(
  path: string,
  era: string,
  url = `${gateway.url}${path}`,
): Promise<readonly unknown[]> {
  const headers = era === "sessions" ? await openSession(url) : {};
  const request = async (method: string, params: object) => {
    const response =
      era === "sessions"
        ? await post(url, { jsonrpc: "2.0", id: 1, method, params }, headers)
        : await ask(url, method, { ...params });
    const [message] = messagesOf(response) as { result: Record<string, readonly Declared[]> }[];
    return message?.result;
  };
  const own = path === "/single" ? uri : "ui://one/main.html";
  const list = await request("resources/list", {});
  const read = await request("resources/read", { uri: own });
  return [list?.resources?.[0]?._meta.ui, read?.contents?.[0]?._meta.ui];
}

describe.each(["/single", "/merged"])("an app on %s", (path) => {
  it.each(["sessions", "stateless"])(
    "declares at most the limits to clients of %s",
    async (era) => {
      const csp = {
        connectDomains: [
          "https://api.example.com",
          "https://other.example",
          "https://a.widgets.example",
        ],
        resourceDomains: ["https://cdn.example"],
        frameDomains: ["https://frames.example"],
        workerDomains: ["https://workers.example"],
      };
      const permissions = { camera: {}, clipboardWrite: {} };
      declare(JSON.stringify({ csp, permissions, prefersBorder: true }));
      const narrowed = {
        csp: {
          connectDomains: ["https://api.example.com", "https://a.widgets.example"],
          resourceDomains: ["https://cdn.example"],
          frameDomains: [],
        },
        permissions: { clipboardWrite: {} },
        prefersBorder: true,
      };
      expect(await learned(path, era)).toEqual([narrowed, narrowed]);
    },
  );

  it.each([
    ["https://api.example.com.evil.example", false],
    ["https://api.example.com; script-src *", false],
    ["https://api.example.com *", false],
    ["https://user@api.example.com", false],
    ["https://api.example.com/path", false],
    ["https://api.example.com:8443", false],
    ["http://api.example.com", false],
    ["wss://api.example.com", false],
    ["*", false],
    ["https:", false],
    ["https://*", false],
    ["https://*.example.com", false],
    ["https://widgets.example", false],
    ["https://evilwidgets.example", false],
    ["https://*.widgets.example", true],
    ["https://*.a.widgets.example", true],
    ["HTTPS://API.example.com/", true],
  ])("with the origin %s is judged as a browser reads it", async (origin, isKept) => {
    declare(JSON.stringify({ csp: { connectDomains: [origin, 7, null, [origin]] } }));
    const expected = { csp: { connectDomains: isKept ? [origin] : [] } };
    expect(await learned(path, "sessions")).toEqual([expected, expected]);
  });

  it.each([
    ["escaped names", String.raw`{"\u0063sp":{"conn\u0065ctDomains":["https://evil.example"]}}`],
    ["a repeated member", '{"csp":{},"csp":{"connectDomains":["https://evil.example"]}}'],
    ["a repeated list", '{"csp":{"connectDomains":[],"connectDomains":["https://evil.example"]}}'],
    ["a text for a list", '{"csp":{"connectDomains":"https://evil.example"}}'],
    ["a text for a policy", '{"csp":"connect-src https://evil.example"}'],
    ["a list for a policy", '{"csp":[{"connectDomains":["https://evil.example"]}]}'],
  ])("with %s declares nothing more", async (_, ui) => {
    declare(ui);
    expect(JSON.stringify(await learned(path, "sessions"))).not.toContain("evil");
  });
});

it.each([
  ["lists", "[", "]"],
  ["objects", '{"a":', "}"],
])("an item that nests %s deeply is narrowed like others", async (_, open, close) => {
  const depth = 50_000;
  const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
  declare(`{"permissions":{"camera":{}},"csp":{}}},"deep":${deep},"last":{"ui":1`);
  const expected = { permissions: {}, csp: {} };
  expect(await learned("/single", "sessions")).toEqual([expected, expected]);
});

it("declarations pass unchanged without limits", async () => {
  const ui = { csp: { connectDomains: ["https://any.example"] }, permissions: { camera: {} } };
  declare(JSON.stringify(ui));
  expect(await learned("/open", "sessions")).toEqual([ui, ui]);
});

it("manifests limit apps alike", async () => {
  const { port } = new URL(upstream.url);
  const spec = {
    targets: [{ name: "one", static: { host: "127.0.0.1", port: Number(port) } }],
    apps,
  };
  const manifest = `${gatewayManifest(await freePort())}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {mcp: ${JSON.stringify(spec)}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  const served = await startGateway({ config: manifest });
  declare('{"permissions":{"camera":{},"clipboardWrite":{}}}');
  const expected = { permissions: { clipboardWrite: {} } };
  expect(await learned("/single", "sessions", `${served.url}/mcp`)).toEqual([expected, expected]);
});
