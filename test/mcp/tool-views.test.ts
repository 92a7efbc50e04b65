import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { servingTools } from "./many-tools.ts";
import { openSession, post } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { ask, connectStateless } from "./stateless-client.ts";

const eras = ["sessions", "stateless"] as const;
let code: RawUpstream;
let files: RawUpstream;
let gateway: Gateway;

const text = { type: "string" };
const issue = {
  name: "create_issue",
  description: "Creates an issue in a repository.",
  inputSchema: {
    type: "object",
    properties: { repo: text, title: text, labels: { type: "array", items: text } },
    required: ["repo", "title"],
  },
};
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const tools = [
  {
    target: "code",
    tool: "create_issue",
    name: "report_bug",
    description: "Reports a bug of this product.",
    set: { repo: "acme/app" },
    hide: ["labels"],
  },
  { target: "files", tool: "read", description: "Reads a file of the manual." },
];

beforeAll(async () => {
  code = await startUpstream(servingTools("code", [issue, tool("merge")]));
  files = await startUpstream(servingTools("files", [tool("read"), tool("remove")]));
  const targets = [
    { name: "code", mcp: { host: code.url } },
    { name: "files", mcp: { host: files.url } },
  ];
  const route = (exact: string, mcp: object, rules?: readonly object[]) => ({
    matches: [{ path: { exact } }],
    policies: rules === undefined ? {} : { mcpAuthorization: { rules } },
    backends: [{ mcp: { targets, tools, ...mcp } }],
  });
  const allowed = (repo: string) => ({
    allow: `mcp.tool.name == "create_issue" && mcp.tool.arguments.repo == "${repo}"`,
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/mcp", {}),
          route("/single", { targets: [targets[0]], tools: [tools[0]] }),
          route("/searched", { toolSearch: { above: 1 } }),
          route("/allowed", {}, [allowed("acme/app")]),
          route("/denied", {}, [allowed("acme/other")]),
          route("/hidden", {}, [{ deny: 'mcp.tool.name == "create_issue"' }, { allow: "true" }]),
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
    tools: async () => (await client.listTools()).tools,
    call: (name: string, given: Record<string, unknown> = {}): Promise<string> =>
      client.callTool({ name, arguments: given }).then(
        ({ content }) => (content as { text: string }[])[0]?.text ?? "",
        (error: Error) => error.message,
      ),
  };
}

const created = JSON.stringify({
  server: "code",
  name: "create_issue",
  given: { repo: "acme/app", title: "a" },
});

describe.each(eras)("tools with names and arguments of the gateway, for clients of %s", (era) => {
  it("lists contain the names, descriptions and arguments for clients", async () => {
    const { tools } = await connect(era, "/mcp");
    const listed = await tools();
    expect(listed.map(({ name }) => name)).toEqual([
      "report_bug",
      "code_merge",
      "files_read",
      "files_remove",
    ]);
    expect(listed[0]).toMatchObject({ description: "Reports a bug of this product." });
    expect(listed[0]?.inputSchema).toEqual({
      type: "object",
      properties: { title: text },
      required: ["title"],
    });
    expect(listed[2]?.description).toBe("Reads a file of the manual.");
  });

  it.each(["/mcp", "/single", "/allowed"])(
    "a call at %s reaches the server's tool with the fixed arguments",
    async (path) => {
      const { call } = await connect(era, path);
      expect(await call("report_bug", { title: "a" })).toBe(created);
    },
  );

  it("a tool without a new name keeps its own", async () => {
    const { call } = await connect(era, "/mcp");
    expect(await call("files_read", { path: "a" })).toContain('"given":{"path":"a"}');
  });

  it("clients cannot call a tool by the name that its view replaces", async () => {
    const merged = await connect(era, "/mcp");
    expect(await merged.call("code_create_issue", { repo: "b" })).toContain(
      "Unknown tool: code_create_issue",
    );
    const single = await connect(era, "/single");
    expect(await single.call("create_issue")).toContain("Unknown tool: create_issue");
  });

  it.each(["repo", "Repo", "labels"])("clients cannot set the argument %s", async (name) => {
    const { call } = await connect(era, "/mcp");
    expect(await call("report_bug", { title: "a", [name]: "b" })).toContain(
      `unknown argument "${name}"`,
    );
  });

  it("rules read the fixed arguments, and refusals only tell the client's name", async () => {
    const { call } = await connect(era, "/denied");
    expect(await call("report_bug", { title: "a" })).toMatch(/Unknown tool: report_bug$/);
    const hidden = await connect(era, "/hidden");
    expect(await hidden.call("report_bug", { title: "a" })).toMatch(/Unknown tool: report_bug$/);
    expect((await hidden.tools()).map(({ name }) => name)).not.toContain("report_bug");
  });

  it("a search finds and calls tools by their names for clients", async () => {
    const { call } = await connect(era, "/searched");
    const { tools } = JSON.parse(await call("search_tools", { query: "report bug" }));
    expect(tools[0]).toEqual({
      name: "report_bug",
      description: "Reports a bug of this product.",
      arguments: ["title"],
    });
    const given = { name: "report_bug", arguments: { title: "a" } };
    expect(await call("call_tool", given)).toBe(created);
    const real = { name: "code_create_issue", arguments: { repo: "b", title: "a" } };
    expect(await call("call_tool", real)).toContain("Unknown tool: code_create_issue");
  });
});

it("an argument with an escaped name is still the fixed one", async () => {
  const url = `${gateway.url}/mcp`;
  const session = await openSession(url);
  const given = String.raw`{"title":"a","r\u0065po":"b"}`;
  const sent = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_bug","arguments":${given}}}`;
  expect((await post(url, sent, session)).text).toContain("unknown argument");
  const twice = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_bug","name":"code_merge"}}`;
  expect((await post(url, twice, session)).text).toContain("duplicate key");
  expect((await ask(url, "tools/call", { name: "report_bug", arguments: [] })).text).toContain(
    "arguments must be an object",
  );
});

it("manifests have the same views", async () => {
  const { port } = new URL(code.url);
  const manifest = `${gatewayManifest(await freePort())}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {mcp: {tools: [{target: one, tool: create_issue, name: report, set: {repo: acme/app}}], targets: [{name: one, static: {host: 127.0.0.1, port: ${port}}}]}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  const served = await startGateway({ config: manifest });
  const client = await connectSession(`${served.url}/mcp`, {});
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["report", "merge"]);
  const { content } = await client.callTool({ name: "report", arguments: { title: "a" } });
  expect(JSON.stringify(content)).toContain("acme/app");
});
