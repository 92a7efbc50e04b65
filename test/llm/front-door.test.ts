import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

let gateway: Gateway;

beforeAll(async () => {
  const { host } = await startProvider([{ prompt: "Hello", response: { content: "Hi there." } }]);
  const params = { apiKey: "${KEY}", hostOverride: host };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "fast", provider: "anthropic", params: { ...params, model: "claude-haiku-4-5" } },
          { name: "gpt-*", provider: "openAI", params },
        ],
      },
    },
  });
});

const messages = [{ role: "user" as const, content: "Hello" }];

it.each([
  ["fast", "claude-haiku-4-5"],
  ["gpt-5-mini", "gpt-5-mini"],
])("clients of either format ask for %s by its name", async (model, served) => {
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  const completion = await openai.chat.completions.create({ model, messages });
  expect(completion.model).toBe(served);
  expect(completion.choices[0]?.message.content).toBe("Hi there.");
  await gateway.seen(new RegExp(`response.model=${served} .*finish_reasons=stop `));
  const message = await anthropic.messages.create({ model, messages, max_tokens: 10 });
  expect(message.model).toBe(served);
  expect(message.content).toMatchObject([{ type: "text", text: "Hi there." }]);
});

it("an unknown model is not found, in the client's format", async () => {
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const call = openai.chat.completions.create({ model: "other", messages });
  await expect(call).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  await expect(
    anthropic.messages.create({ model: "other", messages, max_tokens: 10 }),
  ).rejects.toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
});

it("a client of an API that is not served does not see its model", async () => {
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const call = openai.moderations.create({ model: "fast", input: "Hello" });
  await expect(call).rejects.toMatchObject({ status: 404, code: null });
});

it("models of Azure, Vertex AI and Bedrock are called at their parameters' address", async () => {
  const server = await startScripted((response) => {
    response.writeHead(500, { "content-type": "application/json" });
    response.end("{}");
  });
  const params = { apiKey: "${KEY}", hostOverride: server.host };
  const azure = { ...params, azureResourceName: "res" };
  const door = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "az", provider: "azureOpenAI", params: { ...azure, model: "dep" } },
          {
            name: "gpt-*",
            provider: "azure",
            params: { ...azure, azureApiVersion: "2024-10-21" },
          },
          {
            name: "vx",
            provider: "vertex",
            params: {
              ...params,
              vertexProject: "p-1",
              vertexRegion: "eu",
              model: "gemini-2.5-pro",
            },
          },
          {
            name: "br",
            provider: "bedrock",
            params: { ...params, awsRegion: "eu-west-1", model: "amazon.nova-lite-v1:0" },
          },
        ],
      },
    },
  });
  for (const model of ["az", "gpt-5", "vx", "br"]) {
    const body = JSON.stringify({ model, messages });
    await fetch(`${door.url}/v1/chat/completions`, { method: "POST", body });
  }
  expect(server.received.map(({ url }) => url)).toEqual([
    "/openai/v1/chat/completions",
    "/openai/deployments/gpt-5/chat/completions?api-version=2024-10-21",
    "/v1/projects/p-1/locations/eu/publishers/google/models/gemini-2.5-pro:generateContent",
    "/model/amazon.nova-lite-v1%3A0/converse",
  ]);
  const keys = server.received.map(({ headers }) => headers["api-key"] ?? headers.authorization);
  const bearer = "Bearer provider-key";
  expect(keys).toEqual(["provider-key", "provider-key", bearer, bearer]);
});

it("each model has its own guards and headers", async () => {
  const server = await startProvider([{ prompt: "mail", response: { content: "To eve@b.test." } }]);
  const folder = temporaryFolder();
  makeCertificate(folder, "door", { names: "IP:127.0.0.1" });
  const params = { apiKey: "${KEY}", hostOverride: server.host };
  const mails = [{ regex: { action: "mask", rules: [{ builtin: "email" }] } }];
  const door = await startGateway({
    folder,
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        tls: { cert: "door.pem", key: "door.key" },
        models: [
          {
            name: "gpt-guarded",
            provider: "openAI",
            params,
            guardrails: { request: mails, response: mails },
            requestHeaders: { set: { "x-team": "guarded" }, remove: ["x-trace"] },
            responseHeaders: { add: { "x-model": "one" } },
          },
          { name: "gpt-*", provider: "openAI", params },
        ],
      },
    },
  });
  const ca = readFileSync(join(folder, "door.pem"));
  const ask = async (model: string) => {
    const headers = { "content-type": "application/json", "x-trace": "1" };
    const call = request(`https://127.0.0.1:${door.port}/v1/chat/completions`, {
      ...{ method: "POST", headers, ca, agent: false },
    });
    const content = "mail ann@a.test";
    call.end(JSON.stringify({ model, messages: [{ role: "user", content }] }));
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      call.on("response", resolve).on("error", reject);
    });
    const body = Object(await json(response));
    return { header: response.headers["x-model"], said: body.choices[0].message.content };
  };
  expect(await ask("gpt-guarded")).toEqual({ header: "one", said: "To <EMAIL_ADDRESS>." });
  expect(await ask("gpt-5")).toEqual({ header: undefined, said: "To eve@b.test." });
  const sent = server.received.map(({ headers, body }) => ({
    team: headers["x-team"],
    trace: headers["x-trace"],
    prompt: JSON.parse(body.toString()).messages[0].content,
  }));
  expect(sent).toEqual([
    { team: "guarded", trace: undefined, prompt: "mail <EMAIL_ADDRESS>" },
    { team: undefined, trace: "1", prompt: "mail ann@a.test" },
  ]);
});

it("a virtual model resolves to a configured one", async () => {
  const { host, received } = await startProvider([
    { prompt: "Hello", response: { content: "Hi there." } },
  ]);
  const broken = await startScripted((response) => response.writeHead(503).end("{}"));
  const target = (model: string, more: object) => ({ model, ...more });
  const door = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "gpt-5", provider: "openAI", params: { hostOverride: broken.host } },
          {
            name: "anthropic/*",
            provider: "anthropic",
            params: { hostOverride: host },
            transformation: { model: 'llmRequest.model.stripPrefix("anthropic/")' },
          },
          {
            name: "small",
            provider: "openAI",
            params: { hostOverride: host, model: "gpt-5-nano" },
            overrides: { temperature: 0.5 },
          },
        ],
        virtualModels: [
          {
            name: "resilient",
            routing: {
              failover: {
                targets: [
                  target("anthropic/claude-opus-4-5", { priority: 1 }),
                  target("gpt-5", { priority: 0 }),
                ],
              },
            },
          },
          {
            name: "mixed",
            routing: {
              weighted: {
                targets: [target("small", { weight: 1 }), target("anthropic/claude-haiku-4-5", {})],
              },
            },
          },
        ],
      },
    },
  });
  const openai = new OpenAI({ apiKey: "x", baseURL: `${door.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: door.url, maxRetries: 0 });
  const completion = await openai.chat.completions.create({ model: "resilient", messages });
  expect(completion).toMatchObject({ model: "claude-opus-4-5" });
  expect(broken.received.map(({ body }) => JSON.parse(String(body)).model)).toEqual(["gpt-5"]);
  const message = await anthropic.messages.create({ model: "resilient", messages, max_tokens: 9 });
  expect(message.model).toBe("claude-opus-4-5");
  const named = { model: "anthropic/claude-haiku-4-5", messages, max_tokens: 9 };
  expect(await anthropic.messages.create(named)).toMatchObject({ model: "claude-haiku-4-5" });
  // The failed provider is not called again.
  expect(broken.received).toHaveLength(1);
  received.length = 0;
  await expect
    .poll(async () => {
      await openai.chat.completions.create({ model: "mixed", messages });
      return new Set(received.map(({ body }) => JSON.parse(String(body)).model));
    })
    .toEqual(new Set(["gpt-5-nano", "claude-haiku-4-5"]));
  const small = received.map(({ body }) => JSON.parse(String(body)));
  expect(small.find(({ model }) => model === "gpt-5-nano")).toMatchObject({ temperature: 0.5 });
  const listed = (await openai.models.list()).data.map(({ id }) => id);
  expect(listed).toEqual(["gpt-5", "small", "resilient", "mixed"]);
});

it("a conditional virtual model is the first one whose condition holds", async () => {
  const { host, received } = await startProvider([
    { prompt: "Hello", response: { content: "Hi there." } },
  ]);
  const params = { apiKey: "${KEY}", hostOverride: host };
  const effort = "llmRequest.max_tokens > 1000";
  const door = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "gpt-*", provider: "openAI", params },
          { name: "claude", provider: "anthropic", params: { ...params, model: "claude-5" } },
        ],
        virtualModels: [
          {
            name: "smart",
            routing: {
              conditional: {
                targets: [
                  { when: effort, model: "gpt-5" },
                  { when: 'request.headers["x-team"] == "research"', model: "claude" },
                  { model: "gpt-5-nano" },
                ],
              },
            },
          },
          {
            name: "strict",
            routing: { conditional: { targets: [{ when: effort, model: "gpt-5" }] } },
          },
        ],
      },
    },
  });
  const ask = async (model: string, more: object, team = "none") => {
    const client = new OpenAI({ apiKey: "x", baseURL: `${door.url}/v1`, maxRetries: 0 });
    const headers = { "x-team": team };
    await client.chat.completions.create({ model, messages, ...more }, { headers });
    return JSON.parse(received.at(-1)?.body.toString() ?? "{}").model;
  };
  expect(await ask("smart", { max_tokens: 2000 }, "research")).toBe("gpt-5");
  expect(await ask("smart", { max_tokens: 10 }, "research")).toBe("claude-5");
  // A condition over what a request does not have is one that does not hold.
  expect(await ask("smart", {})).toBe("gpt-5-nano");
  expect(await ask("strict", { max_tokens: 1001 })).toBe("gpt-5");
  await expect(ask("strict", {})).rejects.toMatchObject({
    status: 400,
    param: "model",
    message: expect.stringContaining('no condition of the model "strict" holds'),
  });
  const models = await new OpenAI({ apiKey: "x", baseURL: `${door.url}/v1` }).models.list();
  expect(models.data.map(({ id }) => id)).toEqual(["claude", "smart", "strict"]);
});

it("tokens are counted by the provider if it can, and estimated otherwise", async () => {
  const counter = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"input_tokens":42}');
  });
  const params = { hostOverride: counter.host };
  const failover = (...models: readonly string[]) => ({
    failover: { targets: models.map((model, priority) => ({ model, priority })) },
  });
  const door = await startGateway({
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "fast", provider: "anthropic", params: { ...params, model: "claude-haiku-4-5" } },
          { name: "claude-*", provider: "anthropic", params },
          { name: "claude-like", provider: "openAI", params },
          { name: "gpt-*", provider: "openAI", params },
        ],
        virtualModels: [
          { name: "counted", routing: failover("fast", "gpt-5") },
          { name: "estimated", routing: failover("gpt-5", "fast") },
          {
            name: "mixed",
            routing: { weighted: { targets: [{ model: "fast" }, { model: "gpt-5" }] } },
          },
        ],
      },
    },
  });
  const client = new Anthropic({ apiKey: "x", baseURL: door.url, maxRetries: 0 });
  const count = async (model: string) =>
    (await client.messages.countTokens({ model, messages })).input_tokens;
  const counts: Record<string, number> = {};
  for (const model of ["fast", "claude-opus-4-5", "counted"]) counts[model] = await count(model);
  for (const model of ["claude-like", "gpt-5", "estimated", "mixed"]) {
    counts[model] = await count(model);
  }
  const estimate = 6;
  expect(counts).toEqual({
    ...{ fast: 42, "claude-opus-4-5": 42, counted: 42 },
    ...{ "claude-like": estimate, "gpt-5": estimate, estimated: estimate, mixed: estimate },
  });
  expect(counter.received.map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => "/v1/messages/count_tokens"),
  );
  await door.seen(/operation\.name=count_tokens gen_ai\.request\.model=gpt-5 /);
  await expect(count("other")).rejects.toMatchObject({ status: 404 });
});

it("tokens are estimated for models of a front door without a counting provider", async () => {
  const door = await startGateway({
    config: {
      llm: { port: await freePort(), models: [{ name: "gpt-*", provider: "openAI", params: {} }] },
    },
  });
  const client = new Anthropic({ apiKey: "x", baseURL: door.url, maxRetries: 0 });
  const count = (model: string) => client.messages.countTokens({ model, messages });
  expect((await count("gpt-5")).input_tokens).toBe(6);
  await expect(count("other")).rejects.toMatchObject({ status: 404 });
});

it("a front door without models answers 404", async () => {
  const door = await startGateway({ config: { llm: { port: await freePort(), models: [] } } });
  const client = new OpenAI({ apiKey: "x", baseURL: `${door.url}/v1`, maxRetries: 0 });
  await expect(client.models.list()).rejects.toMatchObject({ status: 404 });
  const asked = client.chat.completions.create({ model: "gpt-5", messages });
  await expect(asked).rejects.toMatchObject({ status: 404 });
});
