import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../harness/bundle.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { servingTools } from "./many-tools.ts";
import { openSession, post, toolCall } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { connectStateless } from "./stateless-client.ts";

const eras = ["sessions", "stateless"] as const;
let code: RawUpstream;
let docs: RawUpstream;
let gateway: Gateway;

const text = { type: "string" };
const tool = (name: string, properties: object = {}) => ({
  name,
  inputSchema: { type: "object", properties },
});
const views = [
  {
    name: "support",
    prefix: false,
    tools: [
      { target: "docs", tool: "search" },
      { target: "code", tool: "create", name: "report", set: { repo: "acme" } },
    ],
  },
  { name: "build", separator: ".", tools: [{ target: "code", tool: "merge" }] },
];

beforeAll(async () => {
  code = await startUpstream(
    servingTools("code", [tool("create", { repo: text, title: text }), tool("merge")]),
  );
  docs = await startUpstream(servingTools("docs", [tool("search"), tool("delete")]));
  const targets = [
    { name: "code", mcp: { host: code.url } },
    { name: "docs", mcp: { host: docs.url } },
  ];
  const route = (pathPrefix: string, mcp: object = {}, rules?: readonly object[]) => ({
    matches: [{ path: { pathPrefix } }],
    policies: rules === undefined ? {} : { mcpAuthorization: { rules } },
    backends: [{ mcp: { targets, views, ...mcp } }],
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/mcp"),
          route("/one", { targets: [targets[0]], views: [views[1]] }),
          route("/searched", { toolSearch: { above: 1 } }),
          route("/ruled", {}, [
            { deny: 'mcp.tool.name == "create" && mcp.tool.arguments.repo == "acme"' },
            { deny: '!request.path.endsWith("/build") && mcp.tool.name == "merge"' },
            { allow: "true" },
          ]),
        ],
      },
    ],
  });
});

/** A client of either era, with the texts of its calls. */
async function connect(era: (typeof eras)[number], path: string) {
  const url = `${gateway.url}${path}`;
  const client: SessionClient =
    era === "sessions"
      ? await connectSession(url, {})
      : // The SDKs' types of results differ in what nobody here reads.
        ((await connectStateless(url)) as unknown as SessionClient);
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name: string, given: Record<string, unknown> = {}): Promise<string> =>
      client.callTool({ name, arguments: given }).then(
        ({ content }) => (content as { text: string }[])[0]?.text ?? "",
        (error: Error) => error.message,
      ),
  };
}

describe.each(eras)("views, for clients of %s", (era) => {
  it.each([
    ["/mcp/support", ["report", "search"]],
    ["/mcp/build", ["code.merge"]],
    ["/mcp/eu/build", ["code.merge"]],
    ["/one/build", ["merge"]],
    ["/mcp", ["code_create", "code_merge", "docs_search", "docs_delete"]],
    ["/mcp/other", ["code_create", "code_merge", "docs_search", "docs_delete"]],
    ["/mcp/toString", ["code_create", "code_merge", "docs_search", "docs_delete"]],
  ])("a client of %s sees %j", async (path, expected) => {
    const { names } = await connect(era, path);
    expect(await names()).toEqual(expected);
  });

  it("calls reach the tools of the view with fixed arguments", async () => {
    const { call } = await connect(era, "/mcp/support");
    expect(await call("report", { title: "a" })).toBe(
      JSON.stringify({ server: "code", name: "create", given: { repo: "acme", title: "a" } }),
    );
    expect(await call("search")).toContain('"server":"docs"');
    const build = await connect(era, "/mcp/build");
    expect(await build.call("code.merge")).toContain('"name":"merge"');
  });

  it.each(["code_merge", "merge", "docs_delete", "docs_search", "create", "code_create"])(
    "a tool outside of the view cannot be called as %j",
    async (name) => {
      const { call } = await connect(era, "/mcp/support");
      [code.seen.length, docs.seen.length] = [0, 0];
      expect(await call(name, { repo: "other" })).toContain("Unknown tool");
      const seen = [...code.seen, ...docs.seen].filter((each) => each.text.includes("tools/call"));
      expect(seen).toEqual([]);
    },
  );

  it("a view grants nothing that rules deny", async () => {
    const support = await connect(era, "/ruled/support");
    expect(await support.names()).toContain("report");
    expect(await support.call("report", { title: "a" })).toContain("Unknown tool: report");
    const build = await connect(era, "/ruled/build");
    expect(await build.call("code.merge")).toContain('"name":"merge"');
    const all = await connect(era, "/ruled");
    expect(await all.call("code_merge")).toContain("Unknown tool");
  });

  it("a search finds and calls the tools of the view only", async () => {
    const { names, call } = await connect(era, "/searched/support");
    expect(await names()).toEqual(["search_tools", "describe_tool", "call_tool"]);
    const found = JSON.parse(await call("search_tools", { query: "delete merge search" }));
    expect(found.tools.map(({ name }: { name: string }) => name)).toEqual(["search"]);
    expect(await call("call_tool", { name: "docs_delete", arguments: {} })).toContain("Unknown");
    expect(await call("describe_tool", { name: "docs_delete" })).toContain("Unknown");
    expect(await call("call_tool", { name: "search", arguments: {} })).toContain('"docs"');
    const build = await connect(era, "/searched/build");
    expect(await build.names()).toEqual(["code.merge"]);
  });
});

it("a session of one view is judged by the view of each request", async () => {
  const session = await openSession(`${gateway.url}/mcp/build`);
  const response = await post(`${gateway.url}/mcp/support`, toolCall("code.merge"), session);
  expect(response.text).toContain("Unknown tool");
});

it("a batch at the path of a view sees its tools only", async () => {
  const url = `${gateway.url}/mcp/support`;
  const calls = [toolCall("search", 1), toolCall("docs_delete", 2)];
  const response = await post(url, calls, await openSession(url));
  const [first, second] = JSON.parse(response.text);
  expect(first.result).toBeDefined();
  expect(second.error.message).toBe("Unknown tool: docs_delete");
});

it("manifests have the same views", async () => {
  const { port } = new URL(code.url);
  const manifest = `${gatewayManifest(await freePort())}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {mcp: {views: [{name: build, separator: "-", prefix: true, tools: [{target: one, tool: merge}]}], targets: [{name: one, static: {host: 127.0.0.1, port: ${port}}}]}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  const served = await startGateway({ config: manifest });
  const client = await connectSession(`${served.url}/mcp/build`, {});
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["one-merge"]);
  expect(JSON.stringify(await client.callTool({ name: "one-merge" }))).toContain("merge");
});

it("arguments that a lock does not have are errors", async () => {
  const lock = `version: 2
targets:
  - name: code
    server: "streamable: http://127.0.0.1:1/mcp"
    tools:
      create: { digests: {}, arguments: [repo, title] }
      old: { digests: {} }
`;
  const entry = (fields: string) => `
mcp:
  toolLock: gwc.lock.yaml
  views: [{ name: v, tools: [{ target: code, ${fields} }] }]
  targets: [{ name: code, mcp: { host: "http://127.0.0.1:1/mcp" } }]`;
  const check = (fields: string) =>
    bundle({ config: entry(fields), files: { "gwc.lock.yaml": lock } });
  await expect(check("tool: create, hide: [labels]")).rejects.toThrow(
    '"create" has no argument "labels"',
  );
  await expect(check("tool: create, set: { Repo: 1 }")).rejects.toThrow(
    '"create" has no argument "Repo"',
  );
  await expect(check("tool: none")).rejects.toThrow('"code" has no tool "none"');
  await check("tool: create, set: { repo: a }, hide: [title]");
  await check("tool: old, hide: [anything]");
});
