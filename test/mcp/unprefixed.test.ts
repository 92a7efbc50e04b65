import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";
import { initialize, openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { ask, connectStateless } from "./stateless-client.ts";

const eras = ["sessions", "stateless"] as const;

/** Names of the tools and prompts of a server with sessions, each in pages of one. */
interface Items {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
}

function serving(name: string, items: Items): Response {
  const paged = (list: keyof Items, cursor: unknown): string => {
    const at = Number(cursor ?? 0);
    const names = items[list].slice(at, at + 1);
    const definition = (each: string) =>
      list === "tools" ? { name: each, inputSchema: { type: "object" } } : { name: each };
    const next = at + 1 < items[list].length ? { nextCursor: String(at + 1) } : {};
    return JSON.stringify({ [list]: names.map(definition), ...next });
  };
  const text = (what: unknown) => [{ type: "text", text: `${name}:${what}` }];
  return (response, request, message) => {
    const { cursor, name: item, uri } = (message.params ?? {}) as Record<string, unknown>;
    mcpResponses({
      initialize: JSON.stringify({
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo: { name, version: "1" },
      }),
      "tools/list": paged("tools", cursor),
      "prompts/list": paged("prompts", cursor),
      "resources/list": JSON.stringify({ resources: [{ uri: "a://b", name }] }),
      "resources/templates/list": '{"resourceTemplates":[]}',
      "tools/call": JSON.stringify({ content: text(item) }),
      "prompts/get": JSON.stringify({
        messages: [{ role: "user", content: text(item)[0] }],
      }),
      "resources/read": JSON.stringify({ contents: [{ uri, text: `${name}:${uri}` }] }),
      "completion/complete": JSON.stringify({ completion: { values: [name] } }),
    })(response, request, message);
  };
}

const ofOne: Items = { tools: ["a", "shared"], prompts: ["p"] };
const ofTwo: Items = { tools: ["shared", "b"], prompts: ["q"] };
let one: RawUpstream;
let two: RawUpstream;
let gateway: Gateway;

beforeAll(async () => {
  one = await startUpstream(serving("one", ofOne));
  two = await startUpstream(serving("two", ofTwo));
  const targets = [
    { name: "one", mcp: { host: one.url } },
    { name: "two", mcp: { host: two.url } },
  ];
  const route = (path: string, mcp: object, policies: object = {}) => ({
    matches: [{ path: { exact: path } }],
    policies,
    backends: [{ mcp: { prefixMode: "never", targets, ...mcp } }],
  });
  const rules = [{ deny: 'mcp.tool.target == "one" && mcp.tool.name == "shared"' }, "true"];
  const own = (name: string, rule: string) => ({
    ...targets.find((each) => each.name === name),
    policies: { mcpAuthorization: { rules: [rule] } },
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/mcp", {}),
          route("/open", { failureMode: "failOpen" }),
          route("/ruled", {}, { mcpAuthorization: { rules } }),
          route("/alone", { targets: [targets[0]] }),
          route("/single-calls", { statefulMode: "stateless" }),
          route("/targets", { targets: [own("one", 'mcp.tool.name == "a"'), targets[1]] }),
          route(
            "/both",
            { targets: [own("one", 'mcp.tool.name == "a"'), targets[1]] },
            { mcpAuthorization: { rules: ['mcp.tool.name == "b"'] } },
          ),
        ],
      },
    ],
  });
});

beforeEach(() => {
  one.response = serving("one", ofOne);
  two.response = serving("two", ofTwo);
});

/** A client of either era, with the names that it sees and the texts of its calls. */
async function connect(era: (typeof eras)[number], path: string) {
  const url = `${gateway.url}${path}`;
  const client: SessionClient =
    era === "sessions"
      ? await connectSession(url, {})
      : // The SDKs' types of results differ in what nobody here reads.
        ((await connectStateless(url)) as unknown as SessionClient);
  const textOf = (result: Promise<unknown>) =>
    result.then(
      (found) => /"text":"([^"]*)"/.exec(JSON.stringify(found))?.[1],
      (error: Error) => error.message,
    );
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    call: (name: string) => textOf(client.callTool({ name, arguments: {} })),
    get: (name: string) => textOf(client.getPrompt({ name })),
    read: (uri: string) => textOf(client.readResource({ uri })),
  };
}

describe.each(eras)("prefixMode never, for clients of %s", (era) => {
  it("every item has its own name, and the first target owns a shared one", async () => {
    const { tools, prompts, call, get } = await connect(era, "/mcp");
    expect(await tools()).toEqual(["a", "shared", "b"]);
    expect(await prompts()).toEqual(["p", "q"]);
    expect(await Promise.all(["a", "shared", "b"].map(call))).toEqual([
      "one:a",
      "one:shared",
      "two:b",
    ]);
    expect(await Promise.all(["p", "q"].map(get))).toEqual(["one:p", "two:q"]);
    expect(await call("one_a")).toContain("Unknown tool: one_a");
    expect(await call("none")).toContain("Unknown tool: none");
  });

  it("a call needs no list before it", async () => {
    const { call } = await connect(era, "/mcp");
    expect(await call("b")).toBe("two:b");
  });

  it("URIs of resources keep the target's name", async () => {
    const { client, read } = await connect(era, "/mcp");
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["one+a://b", "two+a://b"]);
    expect(await read("two+a://b")).toBe("two:a://b");
  });

  it("an item that the rules deny hides no other one", async () => {
    const { tools, call } = await connect(era, "/ruled");
    expect(await tools()).toEqual(["a", "shared", "b"]);
    expect(await call("shared")).toBe("two:shared");
  });

  it("a single target needs no lookup", async () => {
    const { tools, call } = await connect(era, "/alone");
    expect((await tools())[0]).toBe("a");
    expect(await call("shared")).toBe("one:shared");
  });

  it("completions go to the prompt's target", async () => {
    const { client } = await connect(era, "/mcp");
    const ref = { type: "ref/prompt", name: "q" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "x", value: "" } });
    expect(completion.values).toEqual(["two"]);
  });

  it("rules of a target apply to that target instead of the route's", async () => {
    const alone = await connect(era, "/targets");
    expect(await alone.tools()).toEqual(["a", "shared", "b"]);
    expect(await alone.call("shared")).toBe("two:shared");
    const both = await connect(era, "/both");
    expect(await both.tools()).toEqual(["a", "b"]);
    expect(await both.call("shared")).toContain("Unknown tool: shared");
  });
});

it("a list has no pages, because one could repeat items of another", async () => {
  const headers = await openSession(`${gateway.url}/mcp`);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "1" } };
  expect((await post(`${gateway.url}/mcp`, list, headers)).text).toContain("Invalid cursor");
});

it("a hidden item is warned about once", async () => {
  const { tools } = await connect("sessions", "/mcp");
  await tools();
  await tools();
  await gateway.seen(/prefixMode never: "shared" of two is hidden/);
  const warnings = gateway.output.match(/prefixMode never: "shared" of two is hidden/g) ?? [];
  expect(warnings.length).toBeGreaterThan(0);
  expect(new Set(warnings).size).toBe(1);
});

it("a target that fails fails calls, unless the others may answer without it", async () => {
  const fail: Response = (response) => response.writeHead(500).end();
  const closed = await openSession(`${gateway.url}/mcp`);
  const open = await openSession(`${gateway.url}/open`);
  one.response = fail;
  const call = {
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "shared", arguments: {} },
  };
  const refused = await post(`${gateway.url}/mcp`, call, closed);
  expect(refused.text).toContain('"error"');
  const served = await post(`${gateway.url}/open`, call, open);
  expect(served.text).toContain("two:shared");
});

it("clients of single calls find owners, too", async () => {
  const { text } = await post(`${gateway.url}/single-calls`, initialize);
  expect(text).toContain('"result"');
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "b" } };
  const { text: called } = await post(`${gateway.url}/single-calls`, call, {
    "mcp-protocol-version": "2025-06-18",
  });
  expect(called).toContain("two:b");
});

it("an unknown name is the same error for every caller and era", async () => {
  const { text } = await ask(`${gateway.url}/mcp`, "tools/call", { name: "none", arguments: {} });
  expect(JSON.parse(text.replace(/^.*?data: /s, "")).error).toEqual({
    code: -32602,
    message: "Unknown tool: none",
  });
});

describe("prefixMode of manifests", () => {
  const manifest = (mode: string, port: number) => `${gatewayManifest(port)}
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {mcp: {prefixMode: ${mode}, targets: [{name: one, static: {host: 127.0.0.1, port: ${portOf(one)}}}, {name: two, static: {host: 127.0.0.1, port: ${portOf(two)}}}]}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  const portOf = ({ url }: RawUpstream) => Number(new URL(url).port);

  it.each([
    ["Never", ["a", "shared", "b"]],
    ["Conditional", ["one_a", "two_shared", "one_shared", "two_b"]],
  ])("%s lists %j", async (mode, names) => {
    const served = await startGateway({ config: manifest(mode, await freePort()) });
    const client = await connectSession(`${served.url}/mcp`, {});
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      listed.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(names);
    await client.close();
  });

  it("other words are mistakes", () => {
    expect(complaints(checkManifests(manifest("never", 80))).join()).toContain("unknown-value");
  });
});
