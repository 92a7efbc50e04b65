import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startHandwritten, startMcpGateway } from "./mcp-gateway.ts";
import { initialize, openSession, post, send } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { as } from "./subjects.ts";

let upstream: RawUpstream;
let gateway: Gateway;
/** Another replica with the same key. */
let replica: Gateway;
/** A gateway with another key. */
let stranger: Gateway;

const plain = mcpResponses({ ping: "{}" });
const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
const alice = as("alice");
const key = { SESSION_KEY: "0123456789abcdef".repeat(4) };

beforeAll(async () => {
  upstream = await startUpstream(plain);
  const one = { name: "one", mcp: { host: upstream.url } };
  const two = { name: "two", mcp: { host: upstream.url } };
  const routes = [
    { name: "mcp", targets: [one], hasSubjects: true },
    { name: "other", path: "/other", targets: [one], hasSubjects: true },
    { name: "merged", path: "/merged", targets: [one, two], hasSubjects: true },
  ];
  [gateway, replica, stranger] = await Promise.all([
    startMcpGateway(routes, key),
    startMcpGateway(routes, key),
    startMcpGateway(routes),
  ]);
});
beforeEach(() => {
  upstream.response = plain;
  upstream.seen.length = 0;
});

const at = (process: { readonly url: string }, path: string) => process.url.replace("/mcp", path);

describe.each(["/mcp", "/merged"])("a session of %s", (path) => {
  it("continues at another replica with the same key", async () => {
    const session = await openSession(at(gateway, path), alice);
    expect((await post(at(replica, path), ping, session)).status).toBe(200);
    expect(upstream.seen.at(-1)?.headers["mcp-session-id"]).toMatch(/^upstream-/);
  });

  const foreign: [
    string,
    (url: string, session: Record<string, string>) => Promise<{ status: number }>,
  ][] = [
    ["another subject", (url, session) => post(url, ping, { ...session, ...as("bob") })],
    ["nobody", (url, session) => post(url, ping, { ...session, authorization: null as never })],
    ["another route", (_, session) => post(at(gateway, "/other"), ping, session)],
    ["another key", (_, session) => post(at(stranger, path), ping, session)],
    [
      "a changed id",
      (url, session) => {
        const id = session["mcp-session-id"] ?? "";
        const changed = `${id.slice(0, 30)}${id[30] === "A" ? "B" : "A"}${id.slice(31)}`;
        return post(url, ping, { ...session, "mcp-session-id": changed });
      },
    ],
    [
      "another subject that ends it",
      (url, session) => send(url, { method: "DELETE", headers: { ...session, ...as("bob") } }),
    ],
    [
      "another subject that listens",
      (url, session) => send(url, { method: "GET", headers: { ...session, ...as("bob") } }),
    ],
  ];
  it.each(foreign)("is unknown to %s, without a request to the target", async (_, present) => {
    const session = await openSession(at(gateway, path), alice);
    const before = upstream.seen.length;
    expect((await present(at(gateway, path), session)).status).toBe(404);
    expect(upstream.seen.length).toBe(before);
    expect((await post(at(gateway, path), ping, session)).status).toBe(200);
  });

  it("has ended after DELETE, at the gateway and at the target", async () => {
    const session = await openSession(at(gateway, path), alice);
    const response = await send(at(gateway, path), { method: "DELETE", headers: session });
    expect(response.status).toBeLessThan(300);
    expect((await post(at(gateway, path), ping, session)).status).toBe(404);
    const deletions = () => upstream.seen.filter(({ method }) => method === "DELETE").length;
    await expect.poll(deletions).toBeGreaterThan(0);
  });

  it("has ended after DELETE under any spelling of its id", async () => {
    const session = await openSession(at(gateway, path), alice);
    await send(at(gateway, path), { method: "DELETE", headers: session });
    const pings = () => upstream.seen.filter(({ text }) => text.includes('"ping"')).length;
    for (const id of spellings(session["mcp-session-id"] ?? "")) {
      const named = { ...session, "mcp-session-id": id };
      expect((await post(at(gateway, path), ping, named)).status).toBe(404);
    }
    expect(pings()).toBe(0);
  });

  it("has ended after DELETE when the target has forgotten it", async () => {
    const session = await openSession(at(gateway, path), alice);
    upstream.response = (response, request, message) => {
      if (request.method === "DELETE") response.writeHead(404).end();
      else plain(response, request, message);
    };
    await send(at(gateway, path), { method: "DELETE", headers: session });
    expect((await post(at(gateway, path), ping, session)).status).toBe(404);
  });

  it("has ended after its lifetime, however much it is used", async () => {
    const one = { name: "one", mcp: { host: upstream.url } };
    const targets = path === "/merged" ? [one, { ...one, name: "two" }] : [one];
    const brief = await startHandwritten({
      routes: [{ name: "brief", path, targets, timeouts: { session: 4000 } }],
    });
    try {
      const statusOf = async (session: Record<string, string>) =>
        (await post(at(brief, path), ping, session)).status;
      // A starved process may take all of the lifetime for the opening.
      const session = await eventually(async () => {
        const opened = await openSession(at(brief, path));
        return (await statusOf(opened)) === 200 ? opened : null;
      }, "a session");
      await expect.poll(() => statusOf(session)).toBe(404);
      const pings = () => upstream.seen.filter(({ text }) => text.includes('"ping"')).length;
      const before = pings();
      expect(await statusOf(session)).toBe(404);
      expect(pings()).toBe(before);
    } finally {
      await brief.stop();
    }
  });

  it("continues when the target does not let clients end it", async () => {
    if (path === "/merged") return;
    const session = await openSession(at(gateway, path), alice);
    upstream.response = (response, request, message) => {
      if (request.method === "DELETE") response.writeHead(405).end();
      else plain(response, request, message);
    };
    expect((await send(at(gateway, path), { method: "DELETE", headers: session })).status).toBe(
      405,
    );
    expect((await post(at(gateway, path), ping, session)).status).toBe(200);
  });

  it("has an opaque id of visible ASCII that is not logged", async () => {
    const session = await openSession(at(gateway, path), alice);
    const id = session["mcp-session-id"] ?? "";
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    expect(Buffer.from(id, "base64url").toString("latin1")).not.toContain("upstream");
    await post(at(gateway, path), ping, session);
    await gateway.seen(/mcp\.session\.id=/);
    expect(gateway.output).not.toContain(id);
    expect(gateway.output).not.toContain("upstream-1");
  });

  it("that the target forgot is reopened once, also for concurrent requests", async () => {
    const session = await openSession(at(gateway, path), alice);
    const lost = new Set(["upstream-1", ...upstream.seen.map(sessionOf)]);
    upstream.seen.length = 0;
    upstream.response = forgetting(lost);
    const responses = await Promise.all(
      [1, 2, 3].map((id) => post(at(gateway, path), { ...ping, id }, session)),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const targets = path === "/mcp" ? 1 : 2;
    const opened = upstream.seen.filter(({ text }) => text.includes('"initialize"'));
    expect(opened.length).toBe(targets);
    expect(JSON.parse(opened[0]?.text ?? "")).toMatchObject({ params: initialize.params });
    const told = upstream.seen.filter(({ text }) => text.includes("notifications/initialized"));
    expect(told.length).toBe(targets);
    expect((await post(at(gateway, path), ping, session)).status).toBe(200);
    expect(upstream.seen.filter(({ text }) => text.includes('"initialize"')).length).toBe(targets);
  });

  // A 404 would take the sessions of the other targets away, too.
  it("that a target forgets again at once ends only where it is the only target", async () => {
    const session = await openSession(at(gateway, path), alice);
    upstream.response = (response, request, message) => {
      if (message.method === "ping") response.writeHead(404).end();
      else plain(response, request, message);
    };
    const response = await post(at(gateway, path), ping, session);
    expect(response.status).toBe(path === "/mcp" ? 404 : 502);
    if (path === "/merged") expect(response.text).toContain("answered with HTTP status 404");
  });
});

/** Returns strings that base64url decoders read as the same bytes. */
function spellings(id: string): string[] {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bytes = Buffer.from(id, "base64url");
  const all = Array.from(letters, (letter) => id.slice(0, -1) + letter);
  return all.filter((each) => Buffer.from(each, "base64url").equals(bytes));
}

function sessionOf({ headers }: { headers: { readonly [name: string]: unknown } }): string {
  return String(headers["mcp-session-id"]);
}

/** Responds like `plain`, but has forgotten some sessions. */
function forgetting(lost: ReadonlySet<string>): RawUpstream["response"] {
  const responses = mcpResponses({ ping: "{}" });
  let renewed = 0;
  return (response, request, message) => {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string" && lost.has(id) && !id.startsWith("renewed")) {
      return void response.writeHead(404).end("session not found");
    }
    if (message.method !== "initialize") return responses(response, request, message);
    renewed += 1;
    response.writeHead(200, {
      "content-type": "application/json",
      "mcp-session-id": `renewed-${renewed}`,
    });
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{"protocolVersion":"2025-06-18"}}`,
    );
  };
}
