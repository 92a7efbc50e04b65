import { execFile } from "node:child_process";
import { createServer } from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pythonFor } from "../harness/python.ts";
import { send } from "../harness/send.ts";
import { TestProcess } from "../harness/test-process.ts";

const run = promisify(execFile);

/** Returns a card as an agent serves it, with its own address. */
const cardOf = (own: string) => ({
  name: "helper",
  url: `${own}/`,
  additionalInterfaces: [
    { url: `${own}/`, transport: "JSONRPC" },
    { url: `${own}/rest`, transport: "HTTP+JSON" },
    { url: `${own}/../rest?v=2`, transport: "HTTP+JSON" },
    { url: "grpc.example.com:443", transport: "GRPC" },
    { url: "https://elsewhere.example.com/rest", transport: "JSONRPC" },
    { url: "javascript:alert(1)", transport: "JSONRPC" },
  ],
  provider: { url: "https://maker.example.com" },
  signatures: [{ protected: "e30", signature: "AA" }],
});

let gateway: Gateway;

beforeAll(async () => {
  const port = await freePort();
  const own = `http://agent.internal:${port}`;
  const host = `127.0.0.1:${await listen(
    createServer(async (request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url?.endsWith("broken/.well-known/agent.json") === true) {
        response.end("{");
      } else if (request.url?.includes("/.well-known/agent") === true) {
        response.end(JSON.stringify(cardOf(own)));
      } else {
        const { id, method } = (await json(request)) as { id: number; method: string };
        const result = method.includes("Extended") ? cardOf(own) : { url: own, method };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      }
    }),
  )}`;
  const a2a = {};
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            matches: [{ path: { pathPrefix: "/helper" } }],
            policies: { a2a, urlRewrite: { path: { prefix: "/" } } },
            backends: [{ host }],
          },
          { matches: [{ path: { pathPrefix: "/plain" } }], backends: [{ host }] },
          { policies: { a2a }, backends: [{ host }] },
        ],
      },
    ],
  });
});

const shown = (base: string) => ({
  name: "helper",
  url: base,
  additionalInterfaces: [
    { url: base, transport: "JSONRPC" },
    { url: `${base}/rest`, transport: "HTTP+JSON" },
    { url: `${base}/rest?v=2`, transport: "HTTP+JSON" },
    { url: "grpc.example.com:443", transport: "GRPC" },
    { url: "https://elsewhere.example.com/rest", transport: "JSONRPC" },
    { url: "javascript:alert(1)", transport: "JSONRPC" },
  ],
  provider: { url: "https://maker.example.com" },
});

const call = async (method: string) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
  const headers = { host: "agents.example.com", "content-type": "application/json" };
  return JSON.parse((await send(`${gateway.url}/`, "POST", headers, body)).body).result;
};

describe("a2a", () => {
  it.each(["agent-card.json", "agent.json"])("%s contains the gateway's address", async (name) => {
    const headers = { host: "agents.example.com" };
    const { body } = await send(`${gateway.url}/.well-known/${name}`, "GET", headers);
    const origin = "http://agents.example.com";
    expect(JSON.parse(body)).toEqual(shown(origin));
  });

  it("an agent below a path has the address by which the client found it, even behind a proxy", async () => {
    const headers = { host: "agents.example.com", "x-forwarded-proto": "https" };
    const path = "/helper/.well-known/agent-card.json";
    const { body } = await send(`${gateway.url}${path}`, "GET", headers);
    const origin = "https://agents.example.com";
    expect(JSON.parse(body)).toEqual(shown(`${origin}/helper`));
  });

  it("the extended card contains it, too", async () => {
    const origin = "http://agents.example.com";
    expect(await call("agent/getAuthenticatedExtendedCard")).toEqual(shown(origin));
    expect(await call("GetExtendedAgentCard")).toEqual(shown(origin));
    expect(await call("message/send")).toMatchObject({ method: "message/send" });
    expect((await call("message/send")).url).toContain("agent.internal");
  });

  it("log lines contain the method of an agent's request", async () => {
    await call("tasks/get");
    await gateway.seen(/protocol=a2a a2a\.method=tasks\/get/);
  });

  it("without the policy or a card, responses are unchanged", async () => {
    const plain = await send(`${gateway.url}/plain/.well-known/agent.json`, "GET", {});
    expect(JSON.parse(plain.body)).toHaveProperty("signatures");
    const broken = await send(`${gateway.url}/broken/.well-known/agent.json`, "GET", {});
    expect(broken).toMatchObject({ status: 200, body: "{" });
  });
});

it("a client of the A2A SDK can use an agent of the SDK through the gateway", async () => {
  const python = await pythonFor("newest");
  const script = (name: string) => path.join(import.meta.dirname, "a2a", name);
  const port = await freePort();
  new TestProcess(python, [script("agent.py"), String(port)]);
  const front = await startGateway({
    listeners: [{ routes: [{ policies: { a2a: {} }, backends: [{ host: `127.0.0.1:${port}` }] }] }],
  });
  await eventually(
    async () =>
      (await send(`${front.url}/.well-known/agent-card.json`, "GET")).status === 200 || null,
    "the agent's card",
  );
  const { stdout } = await run(python, [script("client.py"), front.url, "hello"]);
  expect(stdout.trim().split("\n")).toEqual([
    `at ${front.url}`,
    "you said hello",
    "you said hello",
  ]);
  await front.seen(/protocol=a2a a2a\.method=SendMessage/);
  await front.seen(/protocol=a2a a2a\.method=SendStreamingMessage/);
}, 300_000);
