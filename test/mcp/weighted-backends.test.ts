import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "../policies/refused.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";
import { initialize, messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { ask, connectStateless } from "./stateless-client.ts";
import { as, issuer, keySet } from "./subjects.ts";

/** Servers with sessions that list their own name; requests to the last one are passed through. */
let servers: Record<"stable" | "canary" | "plain", RawUpstream>;
/** Servers without sessions that require a second round. */
let stateless: Record<"one" | "two", RawUpstream>;
let gateway: Gateway;

beforeAll(async () => {
  servers = {
    stable: await startUpstream(lists("stable")),
    canary: await startUpstream(lists("canary")),
    plain: await startUpstream(lists("plain")),
  };
  stateless = { one: await startUpstream(asks("one")), two: await startUpstream(asks("two")) };
  const mcp = ({ url }: RawUpstream, name = "tools") => ({
    mcp: { targets: [{ name, mcp: { host: url } }] },
  });
  const host = new URL(servers.plain.url).host;
  const { stable, canary } = servers;
  const both = [mcp(stable), mcp(canary)];
  const jwtAuth = { mode: "optional", issuer, jwks: { inline: keySet } };
  gateway = await startRoutes(
    {
      two: { policies: { jwtAuth }, backends: both },
      heavy: {
        policies: {},
        backends: [
          { ...mcp(stable), weight: 3 },
          { ...mcp(canary), weight: 0 },
          { host, weight: 1 },
        ],
      },
      same: { policies: {}, backends: [mcp(stable), mcp(stable)] },
      rounds: { policies: {}, backends: [mcp(stateless.one), mcp(stateless.two)] },
      none: {
        policies: {},
        backends: [
          { ...mcp(stable), weight: 0 },
          { host, weight: 0 },
        ],
      },
      drained: {
        policies: {},
        backends: [
          { ...mcp(stable), weight: 0 },
          { host, weight: 1 },
        ],
      },
      ruled: {
        policies: {
          authorization: { rules: ['request.headers["x-team"] == "blue"'] },
          localRateLimit: [{ maxTokens: 6, tokensPerFill: 1, fillInterval: "1h" }],
        },
        backends: [mcp(stable), { host }],
      },
      limited: {
        policies: {
          timeout: { requestTimeout: "10s" },
          retry: { attempts: 2, codes: [503] },
          mcpAuthorization: { rules: ['mcp.tool.name != "secret"'] },
        },
        backends: both,
      },
    },
    nowhere,
  );
});

beforeEach(() => {
  for (const each of [...Object.values(servers), ...Object.values(stateless)]) each.seen.length = 0;
});

/** Serves one tool, named after the server. */
function lists(name: string): Response {
  const tools = `{"tools":[{"name":"${name}","inputSchema":{"type":"object"}},{"name":"secret","inputSchema":{"type":"object"}}]}`;
  return mcpResponses({ "tools/list": tools, "tools/call": `{"content":[],"by":"${name}"}` });
}

/** Serves statelessly and requires its state before a call is done. */
function asks(name: string): Response {
  return (response, _, { id, method, params }) => {
    const state = (params as { requestState?: string } | undefined)?.requestState;
    const type = { "content-type": "application/json" };
    const result =
      method === "server/discover"
        ? { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
        : state === undefined
          ? { resultType: "input_required", requestState: `of ${name}` }
          : { resultType: "complete", content: [], by: name, state };
    response.writeHead(200, type).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
}

const at = (route: string) => `${gateway.url}/${route}`;
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** Returns the first tool of a session. */
async function shownTo(route: string, session: Readonly<Record<string, string>>): Promise<string> {
  const [message] = messagesOf(await post(at(route), list, session));
  return (message as { result: { tools: { name: string }[] } }).result.tools[0]?.name ?? "";
}

async function sessionsOf(route: string, count: number) {
  const found = new Map<string, Record<string, string>[]>();
  for (let opened = 0; opened < count; opened++) {
    const session = await openSession(at(route));
    const name = await shownTo(route, session);
    found.set(name, [...(found.get(name) ?? []), session]);
  }
  return found;
}

it("sessions are distributed by weight and stay at the backend that opened them", async () => {
  const found = await sessionsOf("heavy", 120);
  const stable = found.get("stable") ?? [];
  const plain = found.get("plain") ?? [];
  // 90 expected, standard deviation 4.7: outside six of them once in 500 million runs.
  expect(stable.length).toBeGreaterThan(61);
  expect(stable.length + plain.length).toBe(120);
  expect(plain.length).toBeGreaterThan(0);
  for (const [name, sessions] of found)
    for (const session of sessions.slice(0, 10)) expect(await shownTo("heavy", session)).toBe(name);
});

it("the id of a plain backend is forwarded unchanged to it alone", async () => {
  const session = { "mcp-session-id": "upstream-plain" };
  for (let sent = 0; sent < 20; sent++) expect(await shownTo("heavy", session)).toBe("plain");
  expect(
    servers.plain.seen.every(({ headers }) => headers["mcp-session-id"] === "upstream-plain"),
  ).toBe(true);
  expect(servers.stable.seen).toEqual([]);
});

it("a session can't be used at another backend or by another client", async () => {
  const found = await sessionsOf("two", 30);
  const [[one], [other]] = [found.get("stable") ?? [], found.get("canary") ?? []];
  const [id = "", otherId = ""] = [one, other].map((each) => each?.["mcp-session-id"]);
  const [tag, sealed] = id.split(".");
  const [otherTag] = otherId.split(".");
  expect(tag).not.toBe(otherTag);
  servers.canary.seen.length = 0;
  for (const forged of [
    `${otherTag}.${sealed}`,
    `${sealed}`,
    `gwc-AAAAAAAA.${sealed}`,
    `${id}x`,
    "",
  ]) {
    const response = await post(at("two"), list, { "mcp-session-id": forged });
    expect([forged, response.status]).toEqual([forged, 404]);
  }
  expect((await post(at("two"), list, { "mcp-session-id": id, ...as("ada") })).status).toBe(404);
  expect(servers.canary.seen).toEqual([]);
  expect(await shownTo("two", { "mcp-session-id": id })).toBe("stable");
});

it("backends with the same server don't share sessions", async () => {
  const tags = new Map<string, string>();
  while (tags.size < 2) {
    const { "mcp-session-id": id = "" } = await openSession(at("same"));
    tags.set(id.split(".")[0] ?? "", id.split(".")[1] ?? "");
  }
  const [[, sealed] = [], [other] = []] = [...tags];
  expect((await post(at("same"), list, { "mcp-session-id": `${other}.${sealed}` })).status).toBe(
    404,
  );
});

it("requests without a session or with an ended one are distributed by weight", async () => {
  const session = await openSession(at("two"));
  expect((await send(at("two"), { method: "DELETE", headers: session })).status).toBe(204);
  expect((await post(at("two"), list, session)).status).toBe(404);
  expect((await send(at("two"), { method: "GET" })).status).toBe(400);
});

it("a stateless call continues where it began", async () => {
  const call = async (params: object = {}) => {
    const response = await ask(at("rounds"), "tools/call", { name: "t", arguments: {}, ...params });
    const shown: unknown = messagesOf(response).at(-1);
    return shown as {
      result: { requestState: string; by: string; state: string };
      error: { code: number };
    };
  };
  const states = new Map<string, string>();
  for (let sent = 0; sent < 40; sent++) {
    const { result } = await call();
    const tag = result.requestState.split(".")[0] ?? "";
    states.set(tag, result.requestState);
    const { result: done } = await call({ requestState: result.requestState });
    expect(done.state).toBe(`of ${done.by}`);
  }
  const [[tag = "", state = ""] = [], [otherTag = ""] = []] = [...states];
  expect(new Set([tag, otherTag]).size).toBe(2);
  for (const each of Object.values(stateless)) each.seen.length = 0;
  const sealed = state.split(".")[1] ?? "";
  for (const requestState of [`${otherTag}.${sealed}`, sealed, "of one", "gwc-AAAAAAAA.x"])
    expect([requestState, (await call({ requestState })).error?.code]).toEqual([
      requestState,
      -32602,
    ]);
  const calls = Object.values(stateless).flatMap(({ seen }) => seen);
  expect(calls.filter(({ text }) => text.includes("tools/call"))).toEqual([]);
});

it("weight 0 gets no requests, not even of its sessions", async () => {
  const none = await post(at("none"), initialize);
  expect({ status: none.status, text: none.text }).toMatchObject({ status: 500 });
  for (let sent = 0; sent < 10; sent++) await post(at("drained"), initialize);
  expect(servers.plain.seen.length).toBe(10);
  expect(servers.stable.seen).toEqual([]);
  const { "mcp-session-id": id = "" } = await openSession(at("two"));
  await post(at("drained"), list, { "mcp-session-id": id });
  expect(servers.stable.seen.filter(({ text }) => text.includes("tools/list"))).toEqual([]);
});

it("policies apply to every backend of the route", async () => {
  for (let sent = 0; sent < 12; sent++) {
    expect((await post(at("ruled"), initialize)).status).toBe(403);
    const foreign = { "x-team": "blue", origin: "https://evil.test" };
    expect((await post(at("ruled"), initialize, foreign)).status).toBe(403);
  }
  expect([...servers.stable.seen, ...servers.plain.seen]).toEqual([]);
  const statuses: number[] = [];
  for (let sent = 0; sent < 12; sent++)
    statuses.push((await post(at("ruled"), initialize, { "x-team": "blue" })).status);
  expect(statuses.filter((status) => status === 200).length).toBe(6);
  expect(statuses.filter((status) => status === 429).length).toBe(6);
});

it("rules on tools apply to both MCP backends", async () => {
  const found = await sessionsOf("limited", 30);
  expect([...found.keys()].toSorted()).toEqual(["canary", "stable"]);
  for (const [session] of found.values()) {
    const [listed] = messagesOf(await post(at("limited"), list, session));
    expect(JSON.stringify(listed)).not.toContain("secret");
    const [called] = messagesOf(await post(at("limited"), toolCall("secret"), session));
    expect(called).toMatchObject({ error: { code: -32602, message: "Unknown tool: secret" } });
  }
});

it("real clients of both eras use them as one server", async () => {
  for (let opened = 0; opened < 6; opened++) {
    const client = await connectSession(at("two"));
    const { tools } = await client.listTools();
    const called = await client.callTool({ name: tools[0]?.name ?? "" });
    expect(called.by).toBe(tools[0]?.name);
    await client.close();
    const other = await connectStateless(at("two"));
    expect((await other.listTools()).tools.length).toBe(2);
    await other.close();
  }
});

it("settings that would not apply to all backends are reported", () => {
  const mcp = { targets: [{ name: "one", mcp: { host: "http://127.0.0.1:1/" } }] };
  const host = "127.0.0.1:1";
  const both = [{ mcp }, { host }];
  const of = (policies: object, backends: readonly object[] = both) =>
    findings({ policies: { ...policies }, backends: backends.map((each) => ({ ...each })) });
  const mcpAuthorization = { rules: ['mcp.tool.name == "a"'] };
  const some = ["not-for-all-backends"];
  expect(of({})).toEqual([]);
  expect(of({ mcpAuthorization })).toEqual(some);
  expect(of({ urlRewrite: { path: { full: "/x" } } })).toEqual(some);
  expect(of({ sessionPersistence: {} })).toEqual(some);
  expect(of({ requestMirror: { backend: { host }, percentage: 0.5 } })).toEqual([]);
  expect(of({ mcpAuthorization }, [{ mcp }, { mcp }])).toEqual([]);
  expect(of({ mcpAuthorization }, [{ mcp }, { host, weight: 0 }])).toEqual([]);
  expect(of({}, [{ mcp, weight: 0 }])).toEqual(["no-weight"]);
  expect(of({}, [{ mcp }, { dynamic: {} }])).toContain("several-backends");
});
