import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

let server: Awaited<ReturnType<typeof startProvider>>;
let gateway: Gateway;

const backend = (provider: object, { host } = server) => [{ ai: { provider, hostOverride: host } }];

/** The same with fields that its schema does not have yet. */
let newer: Awaited<ReturnType<typeof startProvider>>;
const key = { backendAuth: { key: "${KEY}" } };

beforeAll(async () => {
  const replies = [{ prompt: "", response: { content: "Hi." } }];
  server = await startProvider(replies);
  newer = await startProvider(replies, "anything");
  const transformations = {
    max_tokens: "llmRequest.max_tokens > 100 ? 100 : llmRequest.max_tokens",
    temperature: "llmRequest.temperature / 2.0",
    user: 'request.headers["x-user"]',
    metadata: '{"asked": llm.requestModel, "of": llm.provider}',
    top_p: "llmRequest.no_such_field",
  };
  const ai = { transformations, overrides: { temperature: 0.5 }, defaults: { user: "nobody" } };
  const greeting = '[{"role": "user", "content": request.headers["x-said"]}]';
  const guarded = {
    transformations: { messages: greeting },
    promptGuard: { request: [{ regex: { rules: [{ builtin: "email" }] } }] },
  };
  const final = {
    transformations: { temperature: "0.5" },
    finalTransformations: {
      max_tokens: "llmRequest.max_tokens + 24",
      metadata: '{"user_id": request.headers["x-user"]}',
      top_k: "llmRequest.messages[0].content[0].text == 'Hello' ? 7 : 0",
      temperature: "llmRequest.no_such_field",
    },
  };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: [
          {
            name: "openai",
            matches: [{ path: { pathPrefix: "/openai" } }],
            policies: { ...key, ai: { ...ai, routes: { "*": "completions" } } },
            backends: backend({ openAI: {} }),
          },
          {
            name: "anthropic",
            matches: [{ path: { pathPrefix: "/anthropic" } }],
            policies: { ...key, ai: { ...ai, routes: { "*": "completions" } } },
            backends: backend({ anthropic: {} }),
          },
          {
            name: "final",
            matches: [{ path: { pathPrefix: "/final" } }],
            policies: { ...key, ai: { ...final, routes: { "*": "completions" } } },
            backends: backend({ anthropic: {} }),
          },
          {
            name: "guarded",
            matches: [{ path: { pathPrefix: "/guarded" } }],
            policies: { ...key, ai: { ...guarded, routes: { "*": "completions" } } },
            backends: backend({ openAI: {} }),
          },
          {
            name: "whole",
            matches: [{ path: { pathPrefix: "/whole" } }],
            policies: {
              ...key,
              ai: { routes: { "*": "completions" } },
              transformations: {
                request: { body: 'json(request.body).merge({"model": "other"})' },
              },
            },
            backends: backend({ openAI: {} }),
          },
          {
            name: "moderated",
            matches: [{ path: { pathPrefix: "/moderated" } }],
            policies: {
              ...key,
              ai: {
                routes: {
                  "/responses": "responses",
                  "/messages": "messages",
                  "/embeddings": "embeddings",
                  "*": "completions",
                },
              },
            },
            backends: backend(
              {
                openAI: {
                  moderation: { policy: { input: { mode: "block" }, output: { mode: "score" } } },
                },
              },
              newer,
            ),
          },
          {
            name: "embeddings",
            matches: [{ path: { pathPrefix: "/embeddings" } }],
            policies: {
              ...key,
              ai: { transformations: { dimensions: "64" }, routes: { "*": "embeddings" } },
            },
            backends: backend({ openAI: {} }),
          },
        ],
      },
    ],
  });
});

function openai(path: string, headers: Readonly<Record<string, string>> = {}): OpenAI {
  const baseURL = `${gateway.url}/${path}/v1`;
  return new OpenAI({ apiKey: "k", baseURL, maxRetries: 0, defaultHeaders: headers });
}

const messages = [{ role: "user" as const, content: "Hello" }];

/** Returns the last request of the provider. */
function received({ received: all } = server) {
  return JSON.parse(all.at(-1)?.body.toString() ?? "");
}

it("expressions compute fields of a request, in addition to overrides that they see", async () => {
  const asked = { model: "m", messages, max_tokens: 5000, temperature: 1.5, top_p: 0.3 };
  await openai("openai", { "x-user": "ann" }).chat.completions.create(asked);
  expect(received()).toEqual({
    model: "m",
    messages,
    max_tokens: 100,
    temperature: 0.25,
    user: "ann",
    metadata: { asked: "m", of: "openai" },
  });
});

it("a field whose expression fails goes, and has its default then", async () => {
  await openai("openai").chat.completions.create({ model: "m", messages, user: "eve" });
  expect(received()).toMatchObject({ user: "nobody", temperature: 0.25 });
  expect(received()).not.toHaveProperty("max_tokens");
  expect(received()).not.toHaveProperty("top_p");
});

it("a request is translated with the fields that expressions made", async () => {
  const asked = { model: "m", messages, max_tokens: 5000 };
  await openai("anthropic", { "x-user": "ann" }).chat.completions.create(asked);
  expect(received()).toMatchObject({
    max_tokens: 100,
    temperature: 0.25,
    metadata: { user_id: "ann" },
  });
});

it("expressions compute fields of a request in the format of its provider", async () => {
  const asked = { model: "m", messages, max_tokens: 1000 };
  await openai("final", { "x-user": "ann" }).chat.completions.create(asked);
  expect(received()).toMatchObject({ max_tokens: 1024, metadata: { user_id: "ann" }, top_k: 7 });
  expect(received()).not.toHaveProperty("temperature");
});

it("guards see what expressions made", async () => {
  const client = openai("guarded", { "x-said": "mail ann@example.com" });
  await client.chat.completions.create({ model: "m", messages });
  expect(received().messages).toEqual([{ role: "user", content: "mail <EMAIL_ADDRESS>" }]);
});

it("fields of requests for embeddings are made too", async () => {
  await openai("embeddings").embeddings.create({ model: "m", input: "a", dimensions: 512 });
  expect(received()).toMatchObject({ dimensions: 64 });
});

it("each model of the front door has expressions of its own", async () => {
  const params = { apiKey: "${KEY}", hostOverride: server.host };
  const model = (name: string, limit: number) => ({
    ...{ name, provider: "openAI", params },
    transformation: { max_completion_tokens: `${limit}` },
    finalTransformation: { user: `"of-${name}"` },
  });
  const door = await startGateway({
    env: { KEY: "provider-key" },
    config: { llm: { port: await freePort(), models: [model("small", 10), model("large", 1000)] } },
  });
  const client = new OpenAI({ apiKey: "k", baseURL: `${door.url}/v1`, maxRetries: 0 });
  await client.chat.completions.create({ model: "small", messages });
  expect(received()).toMatchObject({ max_completion_tokens: 10, user: "of-small" });
  await client.chat.completions.create({ model: "large", messages });
  expect(received()).toMatchObject({ max_completion_tokens: 1000, user: "of-large" });
});

it("a body that an expression computes from the request's is the request of the model", async () => {
  await openai("whole").chat.completions.create({ model: "m", messages });
  expect(received()).toEqual({ model: "other", messages });
});

it("OpenAI moderates each chat if the provider has moderation, for clients of every format", async () => {
  const moderation: OpenAI.ChatCompletionCreateParams["moderation"] = {
    model: "omni-moderation-latest",
    policy: { input: { mode: "block" }, output: { mode: "score" } },
  };
  const client = openai("moderated");
  const asked = { model: "m", messages, moderation: { model: "none" } };
  await client.chat.completions.create(asked);
  expect(received(newer)).toEqual({ model: "m", messages, moderation });
  await client.responses.create({ model: "m", input: "Hello" });
  expect(received(newer)).toMatchObject({ input: "Hello", moderation });
  const body = { model: "m", max_tokens: 9, messages };
  await client.post("/messages", { body });
  expect(received(newer)).toMatchObject({ messages, moderation });
  await client.embeddings.create({ model: "m", input: "Hello" }).catch(() => undefined);
  expect(received(newer)).toEqual({ model: "m", input: "Hello", encoding_format: "base64" });
});
