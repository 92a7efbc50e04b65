import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";

/** A card as an agent gives it, which knows itself by its own address. */
const cardOf = (own: string) => ({
  name: "helper",
  url: `${own}/`,
  additionalInterfaces: [
    { url: `${own}/`, transport: "JSONRPC" },
    { url: `${own}/rest`, transport: "HTTP+JSON" },
    { url: "grpc.example.com:443", transport: "GRPC" },
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

const shown = (base: string, origin: string) => ({
  name: "helper",
  url: base,
  additionalInterfaces: [
    { url: base, transport: "JSONRPC" },
    { url: `${origin}/rest`, transport: "HTTP+JSON" },
    { url: "grpc.example.com:443", transport: "GRPC" },
  ],
  provider: { url: "https://maker.example.com" },
});

const call = async (method: string) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
  const headers = { host: "agents.example.com", "content-type": "application/json" };
  return JSON.parse((await send(`${gateway.url}/`, "POST", headers, body)).body).result;
};

describe("a2a", () => {
  it.each(["agent-card.json", "agent.json"])("%s gives the gateway's address", async (name) => {
    const headers = { host: "agents.example.com" };
    const { body } = await send(`${gateway.url}/.well-known/${name}`, "GET", headers);
    const origin = "http://agents.example.com";
    expect(JSON.parse(body)).toEqual(shown(origin, origin));
  });

  it("an agent below a path is where the client found it, as a proxy in front says it", async () => {
    const headers = { host: "agents.example.com", "x-forwarded-proto": "https" };
    const path = "/helper/.well-known/agent-card.json";
    const { body } = await send(`${gateway.url}${path}`, "GET", headers);
    const origin = "https://agents.example.com";
    expect(JSON.parse(body)).toEqual(shown(`${origin}/helper`, origin));
  });

  it("the extended card does, too, and other results are as they came", async () => {
    const origin = "http://agents.example.com";
    expect(await call("agent/getAuthenticatedExtendedCard")).toEqual(shown(origin, origin));
    expect(await call("GetExtendedAgentCard")).toEqual(shown(origin, origin));
    expect(await call("message/send")).toMatchObject({ method: "message/send" });
    expect((await call("message/send")).url).toContain("agent.internal");
  });

  it("log lines name the method that an agent was asked", async () => {
    await call("tasks/get");
    await gateway.seen(/protocol=a2a a2a\.method=tasks\/get/);
  });

  it("without the policy, and where there is no card, responses are as they came", async () => {
    const plain = await send(`${gateway.url}/plain/.well-known/agent.json`, "GET", {});
    expect(JSON.parse(plain.body)).toHaveProperty("signatures");
    const broken = await send(`${gateway.url}/broken/.well-known/agent.json`, "GET", {});
    expect(broken).toMatchObject({ status: 200, body: "{" });
  });
});
