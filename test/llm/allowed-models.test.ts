import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

let server: Awaited<ReturnType<typeof startProvider>>;
let gateway: Gateway;

beforeAll(async () => {
  server = await startProvider([{ prompt: "", response: { content: "Hi." } }]);
  const folder = temporaryFolder();
  const rest = { key: "file-key", allowedModels: ["gpt-5"] };
  writeFileSync(join(folder, "key.json"), JSON.stringify(rest));
  const keys = [
    { key: "${SMALL}", allowedModels: ["fast", "gpt-5-*"] },
    { key: "${ANY}" },
    { file: "key.json" },
  ];
  const routes = {
    "/v1/messages/count_tokens": "tokenCount",
    "/v1/messages": "messages",
    "/v1/models": "models",
    "/v1/realtime": "realtime",
    "/v1/files": "passthrough",
    "*": "completions",
  };
  const modelAliases = { fast: "gpt-5-mini", slow: "gpt-5-pro" };
  gateway = await startGateway({
    folder,
    env: { KEY: "provider-key", SMALL: "small-key", ANY: "any-key" },
    listeners: [
      {
        routes: [
          {
            policies: {
              apiKey: { keys },
              backendAuth: { key: "${KEY}" },
              ai: { routes, modelAliases },
            },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: server.host } }],
          },
        ],
      },
    ],
  });
});

const messages = [{ role: "user" as const, content: "Hello" }];

function openai(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

function statusOf(apiKey: string, model: string): Promise<number> {
  const asked = openai(apiKey).chat.completions.create({ model, messages });
  return asked.then(
    () => 200,
    (error) => error.status,
  );
}

it.each([
  ["small-key", "fast", 200],
  ["small-key", "gpt-5-nano", 200],
  ["small-key", "slow", 403],
  ["small-key", "gpt-5", 403],
  ["any-key", "slow", 200],
  ["file-key", "gpt-5", 200],
  ["file-key", "fast", 403],
])("the holder of %s asks for %s: %s", async (key, model, status) => {
  const before = server.received.length;
  expect(await statusOf(key, model)).toBe(status);
  expect(server.received.length - before).toBe(status === 200 ? 1 : 0);
});

it.each([
  { models: ["fast", "slow"] },
  { fallbacks: [{ model: "slow" }] },
  { models: [{}] },
  { Models: ["slow"] },
  { "fallbac\u212as": ["slow"] },
  { fallback_models: ["slow"] },
  { fallbacks: [{ fast: ["slow"] }] },
  { context_window_fallback_dict: { fast: "slow" } },
  { tools: [{ type: "image_generation", model: "slow" }] },
  { tools: [{ type: "advisor", Model: "slow" }] },
  { plugins: [{ id: "fusion", models: ["slow"] }] },
  { plugins: [{ id: "auto-router", allowed_models: ["slow"] }] },
  { extra_body: { models: ["slow"] } },
  { provider: { deployment_id: "slow" } },
  { models: { a: { b: "slow" } } },
])("a request is refused that lets a provider ask another model: %j", async (others) => {
  const body = { model: "fast", messages, ...others };
  const headers = { "content-type": "application/json", authorization: "Bearer small-key" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, init);
  expect(response.status).toBe(403);
});

it("contents of a request and shapes of data name no model", async () => {
  const parameters = { type: "object", properties: { model: { type: "string", enum: ["slow"] } } };
  const tools = [{ type: "function", function: { name: "f", parameters } }];
  const format = {
    name: "f",
    schema: { type: "object", properties: { model: { const: "slow" } } },
  };
  const body = {
    model: "fast",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    tools,
    response_format: { type: "json_schema", json_schema: format },
    metadata: { model: "slow" },
  };
  const headers = { "content-type": "application/json", authorization: "Bearer small-key" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, init);
  expect(response.status).not.toBe(403);
});

it("a client gets the refusal of a model in its own format", async () => {
  const call = openai("small-key").chat.completions.create({ model: "slow", messages });
  await expect(call).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
  const defaultHeaders = { authorization: "Bearer small-key" };
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, defaultHeaders });
  const message = anthropic.messages.create({ model: "slow", messages, max_tokens: 10 });
  await expect(message).rejects.toMatchObject({
    status: 403,
    error: {
      error: {
        type: "permission_error",
        message: 'the model "slow" is not open to this API key',
      },
    },
  });
});

it("exactly the allowed models are listed", async () => {
  const idsOf = async (key: string) => (await openai(key).models.list()).data.map(({ id }) => id);
  expect(await idsOf("small-key")).toEqual(["fast"]);
  expect(await idsOf("any-key")).toEqual(["fast", "slow"]);
  await expect(openai("small-key").models.retrieve("slow")).rejects.toMatchObject({ status: 404 });
});

it("tokens are estimated for allowed models", async () => {
  const count = (model: string) =>
    new Anthropic({
      apiKey: "small-key",
      baseURL: gateway.url,
      maxRetries: 0,
    }).messages.countTokens({
      model,
      messages,
    });
  expect((await count("fast")).input_tokens).toBeGreaterThan(0);
  await gateway.seen(/operation\.name=count_tokens gen_ai\.request\.model=fast /);
  await expect(count("slow")).rejects.toMatchObject({ status: 403 });
});

it("no request passes unread if models are restricted", async () => {
  const ask = (path: string, key: string, headers = {}) =>
    fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  expect((await ask("/v1/files", "small-key")).status).toBe(403);
  expect((await ask("/v1/files", "any-key")).status).not.toBe(403);
});

it("keys of a listener have models on those of its routes that serve any", async () => {
  const { url } = await startGateway({
    env: { KEY: "provider-key", SMALL: "small-key" },
    listeners: [
      {
        policies: { apiKey: { keys: [{ key: "${SMALL}", allowedModels: ["gpt-5"] }] } },
        routes: [
          {
            matches: [{ path: { exact: "/" } }],
            policies: { directResponse: { status: 200, body: "ok" } },
          },
          {
            policies: { backendAuth: { key: "${KEY}" } },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: server.host } }],
          },
        ],
      },
    ],
  });
  const headers = { authorization: "Bearer small-key" };
  expect((await fetch(url, { headers })).status).toBe(200);
  const client = new OpenAI({ apiKey: "small-key", baseURL: `${url}/v1`, maxRetries: 0 });
  await client.chat.completions.create({ model: "gpt-5", messages });
  const other = client.chat.completions.create({ model: "gpt-4", messages });
  await expect(other).rejects.toMatchObject({ status: 403 });
});

it("a Realtime session uses an allowed model", async () => {
  const ask = (model: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        authorization: "Bearer small-key",
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
      };
      get(`${gateway.url}/v1/realtime?model=${model}`, { headers })
        .on("response", (response) => {
          response.resume();
          resolve(response.statusCode);
        })
        .on("upgrade", (_, socket) => {
          socket.destroy();
          resolve(101);
        })
        .on("error", reject);
    });
  expect(await ask("slow")).toBe(403);
  expect(await ask("fast")).not.toBe(403);
});
