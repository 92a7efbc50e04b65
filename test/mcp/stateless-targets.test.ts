import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { answerServers, ask, connectStateless, revision } from "./stateless-client.ts";

const script = ownScript("conformance/stateless-server.ts");
let gateway: Gateway;
let raws: readonly RawUpstream[];
const url = (route: string) => gateway.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const server = new TestProcess(process.execPath, [script, "http"]);
  const [, port] = await server.seen(/port (\d+)/);
  raws = [await startUpstream(() => {}), await startUpstream(() => {})];
  const http = { name: "http", mcp: { host: `http://127.0.0.1:${port}/mcp` } };
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args: [script, "stdio"] } };
  const scripted = raws.map((raw, index) => ({ name: `t${index}`, mcp: { host: raw.url } }));
  gateway = await startMcpGateway([
    { name: "stdio", path: "/stdio", targets: [stdio] },
    { name: "both", path: "/both", targets: [http, stdio] },
    { name: "raw", path: "/raw", targets: scripted },
    { name: "open", path: "/open", targets: scripted, failureMode: "failOpen" },
    {
      name: "ruled",
      path: "/ruled",
      targets: scripted,
      rules: ['mcp.tool.target == "t1"', 'mcp.resource.name == "x://a"'],
    },
  ]);
});

// Servers of the stateless revision: a child, and two merged ones.
describe.each([
  ["stdio", "", ""],
  ["both", "http_", "http+"],
  ["both", "stdio_", "stdio+"],
])("a client without sessions behind /%s with %j", (route, prefix, uriPrefix) => {
  let client: Client;
  const call = async (name: string) =>
    JSON.stringify(await client.callTool({ name: prefix + name }));

  beforeEach(async () => {
    const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
    client = await connectStateless(url(route), { capabilities });
    answerServers(client, { name: "Ada", ok: true, color: "red" });
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///r" }] }));
  });
  afterEach(() => client.close());

  it("can use tools, prompts, resources and completions", async () => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(
      `${prefix}test_simple_text`,
    );
    expect(await call("test_simple_text")).toContain("simple text response");
    const prompt = await client.getPrompt({ name: `${prefix}test_simple_prompt` });
    expect(prompt.messages.length).toBe(1);
    const uri = `${uriPrefix}test://static-text`;
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
    const ref = { type: "ref/prompt" as const, name: `${prefix}test_simple_prompt` };
    const argument = { name: "city", value: "p" };
    expect((await client.complete({ ref, argument })).completion.values).toEqual(["paris"]);
  });

  it("responds to several requests of servers", async () => {
    expect(await call("test_input_required_result_multiple_inputs")).toContain("sampled");
    expect(await call("test_input_required_result_multi_round")).toContain("complete");
    expect(await call("test_input_required_result_request_state")).toContain("state-ok");
  });

  it("gets progress of its own calls when others use the same token", async () => {
    const other = await connectStateless(url(route));
    const seen = await Promise.all(
      [client, other].map(async (each) => {
        const steps: number[] = [];
        const params = { name: `${prefix}test_tool_with_progress` };
        await each.callTool(params, { onprogress: ({ progress }) => steps.push(progress) });
        return steps;
      }),
    );
    expect(seen).toEqual([
      [0, 50, 100],
      [0, 50, 100],
    ]);
    await other.close();
  });

  it("gets the changes that it subscribes to", async () => {
    let changes = 0;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      changes++;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    await call("test_trigger_tool_change");
    await expect.poll(() => changes).toBe(1);
    await subscription.close();
  });
});

describe("two merged servers", () => {
  const lists: Record<string, object> = {};

  beforeEach(() => {
    for (const [index, raw] of raws.entries()) {
      raw.seen.length = 0;
      raw.response = (response, { text }) => {
        const { id, method } = JSON.parse(text);
        const discover = { supportedVersions: [revision], capabilities: { tools: {} } };
        const result = method === "server/discover" ? discover : (lists[`${index}`] ?? {});
        response.writeHead(200, { "content-type": "application/json" });
        response.end(
          JSON.stringify({ jsonrpc: "2.0", id, result: { ...result, resultType: "complete" } }),
        );
      };
    }
    lists[0] = {
      tools: [{ name: "a", inputSchema: { type: "object" } }],
      ttlMs: 9000,
      cacheScope: "public",
    };
    lists[1] = {
      tools: [{ name: "b", inputSchema: { type: "object" } }],
      ttlMs: 50,
      cacheScope: "public",
    };
  });
  const listed = async (route: string) =>
    JSON.parse((await ask(url(route), "tools/list")).text).result;

  it("a list expires with the earliest of its parts", async () => {
    expect(await listed("raw")).toEqual({
      resultType: "complete",
      tools: [
        { name: "t0_a", inputSchema: { type: "object" } },
        { name: "t1_b", inputSchema: { type: "object" } },
      ],
      ttlMs: 50,
      cacheScope: "public",
    });
  });

  it.each([[{ cacheScope: "private", ttlMs: 5 }], [{}]])(
    "one private part makes the list private: %j",
    async (hints) => {
      lists[0] = { tools: [], ...hints };
      expect((await listed("raw")).cacheScope).toBe("private");
    },
  );

  it("rules make a list private and remove what cannot be called", async () => {
    expect(await listed("ruled")).toMatchObject({
      tools: [{ name: "t1_b", inputSchema: { type: "object" } }],
      cacheScope: "private",
    });
    const called = await ask(url("ruled"), "tools/call", {
      name: "t0_a",
      inputSchema: { type: "object" },
    });
    expect(called.text).toContain("Unknown tool: t0_a");
  });

  it("a name in a header becomes the server's own name", async () => {
    await ask(
      url("raw"),
      "tools/call",
      { name: "t1_größe" },
      {
        "mcp-name": `=?base64?${Buffer.from("t1_größe").toString("base64")}?=`,
      },
    );
    expect(raws[1]?.seen.at(-1)?.headers["mcp-name"]).toBe(
      `=?base64?${Buffer.from("größe").toString("base64")}?=`,
    );
    const wrong = await ask(url("raw"), "tools/call", { name: "t1_a" }, { "mcp-name": "a" });
    expect([wrong.status, JSON.parse(wrong.text).error.code]).toEqual([400, -32020]);
  });

  it("subscriptions go to the owners of their resources and are acknowledged once", async () => {
    const ends: (() => void)[] = [];
    for (const raw of raws) {
      raw.response = (response, { text }) => {
        const { id, params } = JSON.parse(text);
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        const say = (message: object) =>
          response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
        response.writeHead(200, { "content-type": "text/event-stream" });
        const { notifications } = params;
        say({ method: "notifications/resources/updated", params: { _meta, uri: "x://a" } });
        say({
          method: "notifications/subscriptions/acknowledged",
          params: { _meta, notifications },
        });
        ends.push(() => {
          say({ id, result: { resultType: "complete", _meta } });
          response.end();
        });
      };
    }
    const notifications = { resourceSubscriptions: ["t0+x://a", "t1+x://a", "t1+x://hidden"] };
    const asking = ask(url("ruled"), "subscriptions/listen", { notifications });
    await expect.poll(() => ends.length).toBe(2);
    for (const end of ends) end();
    const response = await asking;
    expect(messagesOf(response)[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { resourceSubscriptions: ["t0+x://a", "t1+x://a"] },
        _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
      },
    });
    const shown = messagesOf(response).map((each) => JSON.stringify(each));
    expect(shown.filter((each) => each.includes("acknowledged")).length).toBe(1);
    expect(shown.filter((each) => each.includes('"t0+x://a"')).length).toBeGreaterThan(0);
    expect(
      raws.map(({ seen }) => JSON.parse(seen.at(-1)?.text ?? "").params.notifications),
    ).toEqual([{ resourceSubscriptions: ["x://a"] }, { resourceSubscriptions: ["x://a"] }]);
  });

  it("a state goes back only to the server that issued it", async () => {
    const needed = { resultType: "input_required", requestState: "secret" };
    for (const raw of raws) {
      raw.response = (response, { text }) => {
        const { id } = JSON.parse(text);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: needed }));
      };
    }
    const call = (name: string, params: object = {}) =>
      ask(url("raw"), "tools/call", { name, ...params });
    const { requestState } = JSON.parse((await call("t0_a")).text).result;
    expect(requestState).not.toContain("secret");
    for (const [name, state] of [
      ["t1_a", requestState],
      ["t0_a", `${requestState}A`],
      ["t0_a", "secret"],
      ["t0_a", 7],
    ]) {
      const refused = await call(name, { requestState: state });
      expect(JSON.parse(refused.text).error?.code).toBe(-32602);
    }
    await call("t0_a", { requestState });
    const states = raws.map(({ seen }) =>
      seen.flatMap(({ text }) => JSON.parse(text).params?.requestState ?? []),
    );
    expect(states).toEqual([["secret"], []]);
  });

  it("a broken server fails the list or is named as missing", async () => {
    const [first] = raws;
    if (first !== undefined) {
      first.response = (response) => void response.writeHead(500).end();
    }
    const failed = await ask(url("raw"), "tools/list");
    expect([failed.status, failed.text]).toMatchObject([500, expect.stringContaining('"t0\\"')]);
    expect(await listed("open")).toMatchObject({
      tools: [{ name: "t1_b", inputSchema: { type: "object" } }],
      _meta: { "gwc.dev/unavailable": ["t0"] },
    });
  });
});
