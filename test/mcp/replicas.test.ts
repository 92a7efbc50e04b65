import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openUpstream } from "../../runtime/http/upstream/open-upstream.ts";
import { Replicas } from "../../runtime/mcp/transports/replicas.ts";
import { setEndpoints } from "../../runtime/net/service-endpoints.ts";
import type { Gateway } from "../harness/gateway.ts";
import { namedAddresses, startOnOnePort } from "../harness/same-port-servers.ts";
import { SessionReplica } from "../harness/session-replica.ts";
import { startHandwritten } from "./mcp-gateway.ts";
import { connectStateless } from "./stateless-client.ts";

const [first, second] = ["127.0.0.2", "127.0.0.3"];
const replicas = new Map([first, second].map((name) => [name, new SessionReplica(name)]));
const key = { SESSION_KEY: "0123456789abcdef".repeat(4) };

/** A gateway whose target's name resolves to both servers and to an unused address. */
let gateway: Gateway;
/** Another gateway process, for which the first server is gone. */
let later: Gateway;

beforeAll(async () => {
  const { port } = await startOnOnePort(
    [first, second],
    (address) => replicas.get(address)?.listener ?? (() => {}),
  );
  const mcp = { host: `http://replicas.test:${port}/mcp` };
  const half = { host: `http://half.test:${port}/mcp` };
  const routes = [
    { name: "mcp", targets: [{ name: "a", mcp }] },
    {
      name: "merged",
      path: "/merged",
      targets: [
        { name: "a", mcp },
        { name: "b", mcp },
      ],
    },
    {
      name: "old",
      path: "/old",
      targets: [{ name: "a", sse: { host: `http://replicas.test:${port}/sse` } }],
    },
    { name: "half", path: "/half", targets: [{ name: "a", mcp: half }] },
  ];
  const named = (addresses: readonly string[]) => ({
    ...key,
    ...namedAddresses({ "replicas.test": addresses, "half.test": ["127.0.0.9", first] }),
  });
  [gateway, later] = await Promise.all([
    startHandwritten({ routes }, named([first, second])),
    startHandwritten({ routes }, named([second])),
  ]);
});

beforeEach(() => {
  for (const replica of replicas.values()) {
    replica.foreign.length = 0;
    replica.sessions.clear();
    replica.streams = 0;
  }
});

const every = <Value>(read: (replica: SessionReplica) => Value): Value[] =>
  Array.from(replicas.values(), read);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** A real client's session at one of the gateways, with the replicas that its calls reach. */
class Session {
  readonly client = new Client({ name: "test", version: "1.0.0" });
  readonly transport: StreamableHTTPClientTransport;

  constructor({ url }: Gateway, path: string, sessionId?: string) {
    const options = sessionId === undefined ? {} : { sessionId };
    this.transport = new StreamableHTTPClientTransport(new URL(url.replace("/mcp", path)), options);
  }

  async open(): Promise<this> {
    await this.client.connect(this.transport as Parameters<Client["connect"]>[0]);
    return this;
  }

  /** Calls these tools and returns the distinct servers that responded. */
  async servers(tools: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const name of [...tools, ...tools, ...tools]) {
      const { content } = await this.client.callTool({ name });
      for (const { text } of content as { text: string }[]) found.add(`${name} ${text}`);
    }
    return [...found];
  }
}

/** Enough sessions that both servers get some. */
const many = 20;

function openSessions(path: string): Promise<readonly Session[]> {
  return Promise.all(Array.from({ length: many }, () => new Session(gateway, path).open()));
}

describe.each([
  { path: "/mcp", tools: ["where"] },
  { path: "/merged", tools: ["a_where", "b_where"] },
])("sessions of $path with a server with several replicas", ({ path, tools }) => {
  it("stay at the replica that opened them: calls, streams and their end", async () => {
    const sessions = await openSessions(path);
    const began = many * tools.length;
    await expect.poll(() => sum(every(({ streams }) => streams))).toBe(began);
    const counts = every((replica) => replica.sessions.size);
    expect(sum(counts)).toBe(began);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    const servers = await Promise.all(sessions.map((each) => each.servers(tools)));
    for (const each of servers) expect(each).toHaveLength(tools.length);
    await Promise.all(sessions.map(({ transport }) => transport.terminateSession()));
    await expect.poll(() => every((replica) => replica.sessions.size)).toEqual([0, 0]);
    expect(every(({ foreign }) => foreign)).toEqual([[], []]);
    for (const { client } of sessions) await client.close();
  });

  it("continue there through another gateway, and at another replica if theirs is gone", async () => {
    for (const { client, transport } of await openSessions(path)) {
      const before = await new Session(gateway, path, transport.sessionId).open();
      expect(await before.servers(tools)).toHaveLength(tools.length);
      const after = await new Session(later, path, transport.sessionId).open();
      expect(await after.servers(tools)).toEqual(tools.map((tool) => `${tool} ${second}`));
      for (const each of [client, before.client, after.client]) await each.close();
    }
    expect(every(({ foreign }) => foreign)).toEqual([[], []]);
  });
});

it("a stream of HTTP+SSE and the messages to its server reach the same replica", async () => {
  const sessions = await openSessions("/old");
  const servers = await Promise.all(sessions.map((each) => each.servers(["where"])));
  expect(new Set(servers.map((each) => each.join()))).toEqual(
    new Set([`where ${first}`, `where ${second}`]),
  );
  expect(every(({ foreign }) => foreign)).toEqual([[], []]);
  for (const { client } of sessions) await client.close();
});

it("the gateway's own sessions for clients without stay at their replicas", async () => {
  const client = await connectStateless(gateway.url);
  const calls = Array.from({ length: many }, () => client.callTool({ name: "where" }));
  for (const { isError } of await Promise.all(calls)) expect(isError).not.toBe(true);
  expect(every(({ foreign }) => foreign)).toEqual([[], []]);
  await client.close();
});

it("a session begins at a reachable replica", async () => {
  const sessions = await openSessions("/half");
  const servers = await Promise.all(sessions.map((each) => each.servers(["where"])));
  expect(new Set(servers.flat())).toEqual(new Set([`where ${first}`]));
  for (const { client } of sessions) await client.close();
});

it("an address that is gone ends its sessions unless it belongs to a load balancer", async () => {
  const left = (url: string) => new Replicas({ url, connectTimeout: 1000 }, openUpstream);
  const gone = "192.0.2.1:443";
  expect(await left("http://localhost:443").ofSession(gone)).toBeUndefined();
  const balanced = left("https://localhost");
  expect(await balanced.ofSession(gone)).toBe(balanced.any);
  setEndpoints("shop/tools:443", [["192.0.2.2", 443]]);
  const listed = left("https://tools.shop.svc");
  expect(await listed.ofSession(gone)).toBeUndefined();
  expect(await listed.ofSession("192.0.2.2:443")).toMatchObject({ name: "192.0.2.2:443" });
});
