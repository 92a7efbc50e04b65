import { request } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { complete } from "./llm-upstream.ts";

/** A server with the chat completions of Ollama: a model that it does not have is not found. */
function startServer(): Promise<Scripted> {
  return startScripted((response, _, received) => {
    if (received.url.endsWith("/chat/completions")) {
      complete(response, received);
      return;
    }
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "not found", type: "api_error" } }));
  });
}

async function startLlm(llm: object, env: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  return startGateway({ env, config: { llm: { port: await freePort(), ...llm } } });
}

const messages = [{ role: "user" as const, content: "Hello" }];

async function ask(gateway: Gateway, model: string): Promise<number> {
  const body = JSON.stringify({ model, messages });
  const headers = { "content-type": "application/json" };
  const url = `${gateway.url}/v1/chat/completions`;
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

const shown = ({ url, headers, body }: Received) => ({
  url,
  key: headers.authorization ?? headers["x-api-key"],
  model: JSON.parse(body.toString()).model,
});

it("the path of a base URL replaces the base path of the provider", async () => {
  const server = await startServer();
  const params = { apiKey: "${KEY}" };
  const gateway = await startLlm(
    {
      models: [
        {
          name: "a",
          provider: "openAI",
          params: { ...params, baseUrl: `http://${server.host}/v1` },
        },
        { name: "b", provider: "openAI", params: { ...params, baseUrl: `http://${server.host}` } },
        {
          name: "c",
          provider: "groq",
          params: { ...params, baseUrl: `http://${server.host}/proxy/groq/` },
        },
        { name: "d", provider: "groq", params: { ...params, baseUrl: `http://${server.host}` } },
        {
          name: "e",
          provider: "mistral",
          params: { ...params, hostOverride: server.host, pathPrefix: "/up/v9/" },
        },
        { name: "f", provider: "openAI", params: { ...params, baseUrl: "http://${HOST}/late/v1" } },
        { name: "g", provider: "openAI", params: { ...params, baseUrl: "${WHOLE}" } },
      ],
    },
    { KEY: "k", HOST: server.host, WHOLE: `http://${server.host}` },
  );
  for (const model of ["a", "b", "c", "d", "e", "f", "g"])
    expect(await ask(gateway, model)).toBe(200);
  expect(server.received.map(({ url }) => url)).toEqual(
    ["/v1", "/v1", "/proxy/groq", "/openai/v1", "/up/v9", "/late/v1", "/v1"].map(
      (base) => `${base}/chat/completions`,
    ),
  );
});

it("models refer to a shared provider with its key, server and policies", async () => {
  const server = await startServer();
  const gateway = await startLlm(
    {
      providers: [
        {
          name: "own",
          provider: { custom: { formats: [{ type: "completions", path: "/chat/completions" }] } },
          params: { apiKey: "${KEY}", baseUrl: `http://${server.host}/ignored` },
          defaults: {
            defaults: { temperature: 0.5, top_p: 0.9 },
            requestHeaders: { set: { "x-shared": "1" } },
            transformation: { model: 'llmRequest.model.stripPrefix("own/")' },
          },
        },
      ],
      models: [
        { name: "own/*", provider: { reference: "own" } },
        {
          name: "fixed",
          provider: { reference: "own" },
          params: { model: "one" },
          defaults: { top_p: 0.1 },
        },
      ],
    },
    { KEY: "k" },
  );
  expect(await ask(gateway, "own/big")).toBe(200);
  expect(await ask(gateway, "fixed")).toBe(200);
  expect(server.received.map(shown)).toEqual(
    ["big", "one"].map((model) => ({ url: "/chat/completions", key: "Bearer k", model })),
  );
  expect(server.received.map(({ headers }) => headers["x-shared"])).toEqual(["1", "1"]);
  const bodies = server.received.map(({ body }) => JSON.parse(body.toString()));
  expect(bodies).toMatchObject([
    { temperature: 0.5, top_p: 0.9 },
    { temperature: 0.5, top_p: 0.1 },
  ]);
});

it("clients of every chat format reach a server that only has chat completions", async () => {
  const server = await startServer();
  const provider = { custom: { formats: [{ type: "Completions" }], providerOverride: "house" } };
  const gateway = await startLlm({
    models: [{ name: "m", provider, params: { baseUrl: `http://${server.host}` } }],
  });
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  const completion = await openai.chat.completions.create({ model: "m", messages });
  expect(completion.choices[0]?.message.content).toBe("Hi.");
  const response = await openai.responses.create({ model: "m", input: "Hello" });
  expect(response.output_text).toBe("Hi.");
  const message = await anthropic.messages.create({ model: "m", messages, max_tokens: 10 });
  expect(message.content).toMatchObject([{ type: "text", text: "Hi." }]);
  await gateway.seen(/gen_ai.provider.name=house/);
  const sent = JSON.parse(server.received.at(-1)?.body.toString() ?? "");
  expect(sent).toMatchObject({ max_tokens: 10 });
});

it("an internal model is reached through a virtual one only, and is not listed", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1` };
  const gateway = await startLlm({
    models: [
      { name: "hidden", visibility: "internal", provider: "ollama", params },
      { name: "open", visibility: "public", provider: "ollama", params },
    ],
    virtualModels: [{ name: "v", routing: { weighted: { targets: [{ model: "hidden" }] } } }],
  });
  expect(await ask(gateway, "hidden")).toBe(404);
  expect(await ask(gateway, "v")).toBe(200);
  expect(await ask(gateway, "open")).toBe(200);
  expect(server.received.map((each) => shown(each).model)).toEqual(["hidden", "open"]);
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const { data } = await openai.models.list();
  expect(data.map(({ id }) => id)).toEqual(["open", "v"]);
});

it("a model has its own credential, name in logs and tunnel", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1` };
  const gateway = await startLlm(
    {
      models: [
        { name: "m", id: "first", provider: "ollama", params, auth: { key: "${KEY}" } },
        { name: "n", provider: "ollama", params, auth: { passthrough: {} } },
      ],
    },
    { KEY: "k" },
  );
  const body = JSON.stringify({ model: "m", messages });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer client" },
    body,
  });
  expect(response.headers.get("x-llm-provider")).toBe("first");
  expect(server.received.map(shown)).toEqual([
    { url: "/v1/chat/completions", key: "Bearer k", model: "m" },
  ]);
});

it("guards of all models run before those of a model", async () => {
  const server = await startServer();
  const params = { baseUrl: `http://${server.host}/v1` };
  const rejects = (builtin: string, status: number) => ({
    request: [{ regex: { action: "reject", rules: [{ builtin }] }, rejection: { status } }],
  });
  const gateway = await startLlm({
    policies: { guardrails: rejects("email", 422) },
    models: [
      { name: "m", provider: "ollama", params, guardrails: rejects("ssn", 423) },
      { name: "n", provider: "ollama", params },
    ],
  });
  const statusOf = async (model: string, content: string) => {
    const body = JSON.stringify({ model, messages: [{ role: "user", content }] });
    const headers = { "content-type": "application/json" };
    const url = `${gateway.url}/v1/chat/completions`;
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  expect(await statusOf("m", "ann@a.test and 123-45-6789")).toBe(422);
  expect(await statusOf("m", "123-45-6789")).toBe(423);
  expect(await statusOf("n", "ann@a.test")).toBe(422);
  expect(await statusOf("n", "123-45-6789")).toBe(200);
});

it("paths that are passed on follow the base URL", async () => {
  const server = await startScripted((response) => response.end("{}"), "anything");
  const places = [
    ["a.test", { provider: { openAI: {} }, baseUrl: `http://${server.host}` }],
    ["b.test", { provider: { groq: {} }, baseUrl: `http://${server.host}/other/v2` }],
    ["c.test", { provider: { openAI: {} }, baseUrl: "http://${HOST}/late" }],
  ] as const;
  const gateway = await startGateway({
    env: { HOST: server.host },
    listeners: places.map(([hostname, ai]) => ({
      hostname,
      routes: [{ policies: { ai: { routes: { "*": "passthrough" } } }, backends: [{ ai }] }],
    })),
  });
  const paths = ["/v1/models?x=1", "/openai/v1/models", "/v1"];
  for (const [index, [hostname]] of places.entries())
    await get(`${gateway.url}${paths[index]}`, hostname);
  expect(server.received.map(({ url }) => url)).toEqual([
    ...["/v1/models?x=1", "/other/v2/models", "/late"],
  ]);
});

/** Sends a request to a host of the gateway. */
function get(url: string, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => response.resume().on("end", resolve))
      .on("error", reject)
      .end();
  });
}
