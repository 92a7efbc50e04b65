import { readFileSync } from "node:fs";
import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { beforeAll, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";
import { manyTools, servingTools } from "./many-tools.ts";
import { openSession, post } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { ask, connectStateless } from "./stateless-client.ts";

const eras = ["sessions", "stateless"] as const;
const own = ["search_tools", "describe_tool", "call_tool"];
const all = manyTools(79);
let office: RawUpstream;
let shop: RawUpstream;
let gateway: Gateway;

const policy = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  async toolCall({ tool, arguments: given }, _options, request) {
    if (tool === "office_delete_issue" && given["issueId"] === "7") return request.refuse(403, "kept");
  },
});
`;

beforeAll(async () => {
  office = await startUpstream(servingTools("office", all, 30));
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  shop = await startUpstream(servingTools("shop", [tool("buy"), tool("create_issue")]));
  const targets = [
    { name: "office", mcp: { host: office.url } },
    { name: "shop", mcp: { host: shop.url } },
  ];
  const route = (path: string, mcp: object, policies: object = {}) => ({
    matches: [{ path: { exact: path } }],
    policies,
    backends: [{ mcp: { targets, toolSearch: { above: 40 }, ...mcp } }],
  });
  const mcpAuthorization = {
    rules: [
      { deny: 'mcp.tool.name == "delete_issue"' },
      { deny: 'mcp.tool.name == "read_issue" && mcp.tool.arguments.issueId == "1"' },
      "true",
    ],
  };
  const names = { search: "find", describe: "explain", call: "run" };
  gateway = await startGateway({
    files: { "policies/kept.ts": policy },
    listeners: [
      {
        routes: [
          route("/mcp", {}),
          route("/above", { toolSearch: { above: 81 } }),
          route("/ruled", {}, { mcpAuthorization }),
          route("/single", { targets: [targets[0]] }),
          route("/never", { prefixMode: "never" }),
          route("/without-sessions", { statefulMode: "stateless" }),
          route("/named", { toolSearch: { above: 1, maxResults: 2, names } }),
          route("/few", {}, { mcpAuthorization: { rules: ['mcp.tool.name == "buy"'] } }),
          route("/custom", {}, { custom: [{ use: "./policies/kept.ts" }] }),
        ],
      },
    ],
  });
});

/** A client of either era, with the names that it sees and the texts of its calls. */
async function connect(era: (typeof eras)[number], path: string) {
  const url = `${gateway.url}${path}`;
  const client: SessionClient =
    era === "sessions"
      ? await connectSession(url, {})
      : // The SDKs' types of results differ in what nobody here reads.
        ((await connectStateless(url)) as unknown as SessionClient);
  const use = (name: string, given: Record<string, unknown> = {}): Promise<string> =>
    client.callTool({ name, arguments: given }).then(
      ({ content }) => (content as { text: string }[])[0]?.text ?? "",
      (error: Error) => error.message,
    );
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    use,
    find: async (query: string, more = {}): Promise<string[]> => {
      const { tools } = JSON.parse(await use("search_tools", { query, ...more }));
      return tools.map(({ name }: { name: string }) => name);
    },
    call: (name: string, given?: unknown) => use("call_tool", { name, arguments: given }),
  };
}

describe.each(eras)("search for tools, for clients of %s", (era) => {
  it("a list beyond the number contains the tools of the gateway", async () => {
    const { tools } = await connect(era, "/mcp");
    expect(await tools()).toEqual(own);
  });

  it("a list up to the number is complete", async () => {
    const { tools, call } = await connect(era, "/above");
    expect(await tools()).toHaveLength(81);
    expect(await call("shop_buy", {})).toContain('"server":"shop","name":"buy"');
  });

  it.each(["/mcp", "/single", "/never", "/without-sessions"])(
    "an agent finds, reads and calls a tool at %s",
    async (path) => {
      const { tools, find, use, call } = await connect(era, path);
      expect(await tools()).toEqual(own);
      const [name = ""] = await find("approve a customer");
      const prefix = path === "/single" || path === "/never" ? "" : "office_";
      expect(name).toBe(`${prefix}approve_customer`);
      const { inputSchema } = JSON.parse(await use("describe_tool", { name }));
      expect(Object.keys(inputSchema.properties)).toContain("comment");
      expect(await call(name, { comment: "a" })).toBe(
        JSON.stringify({ server: "office", name: "approve_customer", given: { comment: "a" } }),
      );
    },
  );

  it("a hidden tool is not found, described or called", async () => {
    const { find, use, call, client } = await connect(era, "/ruled");
    expect(await find("delete issue")).not.toContain("office_delete_issue");
    const { tools } = await client.listTools();
    expect(tools[0]?.description).toContain("80 tools of: office, shop");
    const answers = [
      await use("describe_tool", { name: "office_delete_issue" }),
      await call("office_delete_issue", {}),
      await use("office_delete_issue"),
    ];
    for (const answer of answers) expect(answer).toContain("Unknown tool: office_delete_issue");
  });

  it("rules on arguments read those of the tool", async () => {
    const { find, call } = await connect(era, "/ruled");
    expect(await find("read issue")).toContain("office_read_issue");
    expect(await call("office_read_issue", { issueId: "1" })).toContain("Unknown tool");
    expect(await call("office_read_issue", { issueId: "2" })).toContain('"issueId":"2"');
  });

  it("custom policies see the tool and its arguments", async () => {
    const { call } = await connect(era, "/custom");
    expect(await call("office_delete_issue", { issueId: "7" })).toContain("kept");
    expect(await call("office_delete_issue", { issueId: "8" })).toContain('"issueId":"8"');
  });

  it("a caller with few tools gets them all", async () => {
    const { tools } = await connect(era, "/few");
    expect(await tools()).toEqual(["shop_buy"]);
  });

  it("names and the number of results can be configured", async () => {
    const { tools, use } = await connect(era, "/named");
    expect(await tools()).toEqual(["find", "explain", "run"]);
    expect(JSON.parse(await use("find", { query: "issue" })).tools).toHaveLength(2);
    expect(JSON.parse(await use("find", { query: "issue", limit: 1 })).tools).toHaveLength(1);
    expect(await use("run", { name: "shop_buy" })).toContain('"name":"buy","given":{}');
  });

  it("malformed arguments are refused", async () => {
    const { use, call } = await connect(era, "/mcp");
    expect(await use("search_tools", { query: 1 })).toContain("arguments.query must be a string");
    expect(await use("search_tools", { query: "a", limit: 0 })).toContain("a positive integer");
    expect(await use("describe_tool")).toContain("arguments.name must be a string");
    expect(await use("call_tool")).toContain("arguments.name must be a string");
    expect(await call("shop_buy", "{}")).toContain("arguments.arguments must be an object");
    expect(await call("call_tool", {})).toContain("call_tool cannot call call_tool");
    expect(await call("search_tools", { query: "a" })).toContain("cannot call search_tools");
  });
});

it("a call with two names is refused, whichever a server would read", async () => {
  const url = `${gateway.url}/ruled`;
  const session = await openSession(url);
  const called = shopCalls();
  for (const given of [
    '{"name":"shop_buy","name":"office_delete_issue"}',
    '{"name":"shop_buy","Name":"office_delete_issue"}',
    '{"name":"shop_buy","arguments":{},"arguments":{"a":1}}',
  ]) {
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":${given}}}`;
    expect((await post(url, text, session)).text).toContain("Invalid params: arguments:");
  }
  expect(shopCalls()).toBe(called);
});

function shopCalls(): number {
  return shop.seen.filter(({ text }) => text.includes("tools/call")).length;
}

it("log and metrics name the tool that is called", async () => {
  const { call, find } = await connect("sessions", "/mcp");
  await find("issue");
  await call("shop_buy", {});
  await gateway.seen(/gen_ai\.tool\.name"?[:=]"?buy/);
  await gateway.seen(/gen_ai\.tool\.name"?[:=]"?search_tools/);
  const { text } = await expositionOf(await gateway.statsPort());
  const items = [...text.matchAll(/^gwc_mcp_messages_total\{.*item="(\w*)"/gm)].map(
    ([, item]) => item,
  );
  expect(items).toEqual(expect.arrayContaining(["buy", "search_tools"]));
  expect(items).not.toContain("call_tool");
});

it("a header that repeats an argument is sent for a tool of the stateless revision", async () => {
  const region = { type: "string", "x-mcp-header": "Region" };
  const inputSchema = { type: "object", properties: { region } };
  const tools = [1, 2].map((each) => ({ name: `t${each}`, inputSchema }));
  const serverInfo = { name: "a", version: "1" };
  const results: Record<string, object> = {
    "server/discover": {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo,
    },
    "tools/list": { tools },
    "tools/call": { content: [] },
  };
  const server = await startUpstream((response, _, { id, method }) => {
    const more = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const result = { ...results[String(method)], ...more };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const targets = [{ name: "a", mcp: { host: server.url } }];
  const routes = [{ backends: [{ mcp: { targets, toolSearch: { above: 1 } } }] }];
  const own = await startGateway({ listeners: [{ routes }] });
  await ask(own.url, "tools/list");
  const name = "call_tool";
  const given = { name: "t1", arguments: { region: "eu" } };
  await ask(own.url, "tools/call", { name, arguments: given }, { "mcp-param-region": "us" });
  const call = server.seen.find(({ text }) => text.includes("tools/call"));
  expect(call?.headers).toMatchObject({ "mcp-name": "t1", "mcp-param-region": "eu" });
});

it("a tool that has changed since it was locked is neither found nor called", async () => {
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: "object" },
  });
  const approved = [tool("sing", "a song"), tool("dance", "a dance"), tool("paint", "a picture")];
  const server = await startUpstream(servingTools("arts", approved));
  const targets = [{ name: "arts", mcp: { host: server.url } }];
  const mcp = { targets, toolSearch: { above: 1 }, toolLock: "gwc.lock.yaml" };
  const config = {
    binds: [{ port: await freePort(), listeners: [{ routes: [{ backends: [{ mcp }] }] }] }],
  };
  const workspace = new Workspace({ "gateway.yaml": JSON.stringify(config) });
  const locking = new GwcProcess(["lock"], { cwd: workspace.folder });
  expect(await locking.exited, locking.output).toBe(0);
  const lock = readFileSync(workspace.path("gwc.lock.yaml"), "utf8");
  expect(lock).toContain("paint:");
  server.response = servingTools("arts", [...approved.slice(0, 2), tool("paint", "a forgery")]);
  const own = await startGateway({ config, files: { "gwc.lock.yaml": lock } });
  const client = await connectSession(`${own.url}/mcp`, {});
  const use = (name: string, given: object) =>
    client.callTool({ name, arguments: { ...given } }).then(
      ({ content }) => JSON.stringify(content),
      (error: Error) => error.message,
    );
  expect(await use("search_tools", { query: "picture forgery dance" })).not.toContain("paint");
  expect(await use("search_tools", { query: "dance" })).toContain("dance");
  expect(await use("call_tool", { name: "paint" })).toContain("Unknown tool: paint");
  expect(await use("call_tool", { name: "dance" })).toContain("arts");
});

it("a misspelt word finds what it resembles", async () => {
  const { find } = await connect("sessions", "/mcp");
  expect(await find("calandar")).toContain("office_read_calendar");
});

it("manifests have the field, with the same bounds", () => {
  const manifest = (toolSearch: string) => `${gatewayManifest(80)}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {mcp: {toolSearch: ${toolSearch}, targets: [{name: one, static: {host: 127.0.0.1, port: 80}}]}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  expect(complaints(checkManifests(manifest("{above: 40, names: {call: use}}")))).toEqual([]);
  const both = complaints(checkManifests(manifest("{above: 40, names: {call: describe_tool}}")));
  expect(both.join()).toContain('"describe" and "call" must differ');
});
