import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

function openai({ url }: Gateway): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${url}/v1`, maxRetries: 0 });
}

function anthropic({ url }: Gateway): Anthropic {
  return new Anthropic({ apiKey: "client-key", baseURL: url, maxRetries: 0 });
}

/** A provider that gives everything the same JSON. */
function startSaying(value: object): Promise<Scripted> {
  return startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
}

function bodyOf(received: Received | undefined) {
  return JSON.parse(received?.body.toString() ?? "{}");
}

it("embeddings come from the provider, and their tokens are counted", async () => {
  const data = [{ object: "embedding", index: 0, embedding: [0.5, -0.25] }];
  const usage = { prompt_tokens: 8, total_tokens: 8 };
  const provider = await startSaying({ object: "list", data, model: "embed-1", usage });
  const aliases = { modelAliases: { small: "embed-1" } };
  const gateway = await startAiGateway(
    provider.host,
    { "/v1/embeddings": "embeddings" },
    { ai: aliases },
  );
  const found = await openai(gateway).embeddings.create({
    model: "small",
    input: "Hello",
    encoding_format: "float",
  });
  expect(found.data[0]?.embedding).toEqual([0.5, -0.25]);
  expect(bodyOf(provider.received[0])).toMatchObject({ model: "embed-1", input: "Hello" });
  await gateway.seen(
    /gen_ai\.operation\.name=embeddings .*gen_ai\.usage\.input_tokens=8 gen_ai\.usage\.output_tokens=0/,
  );
});

it("a provider that counts tokens is asked to, by its name of the model", async () => {
  const provider = await startSaying({ input_tokens: 42 });
  const gateway = await startAiGateway(
    provider.host,
    { "/v1/messages/count_tokens": "tokenCount", "/v1/messages": "messages" },
    {
      provider: { anthropic: {} },
      ai: {
        modelAliases: { fast: "claude-haiku-4-5" },
        defaults: { temperature: 0 },
        prompts: { prepend: [{ role: "system", content: "Be brief." }] },
      },
    },
  );
  const messages = [{ role: "user" as const, content: "Hello" }];
  const count = await anthropic(gateway).messages.countTokens({ model: "fast", messages });
  expect(count).toEqual({ input_tokens: 42 });
  expect(provider.received[0]?.url).toBe("/v1/messages/count_tokens");
  expect(bodyOf(provider.received[0])).toEqual({
    model: "claude-haiku-4-5",
    messages,
    system: [{ type: "text", text: "Be brief." }],
  });
});

it("tokens are estimated where no provider counts them, those of tools and pictures too", async () => {
  const gateway = await startAiGateway("127.0.0.1:9", {
    "/v1/messages/count_tokens": "tokenCount",
  });
  const client = anthropic(gateway);
  const count = async (content: Anthropic.MessageParam["content"], tools?: Anthropic.Tool[]) => {
    const request = {
      model: "m",
      messages: [{ role: "user" as const, content }],
      ...(tools && { tools }),
    };
    return (await client.messages.countTokens(request)).input_tokens;
  };
  const text = await count("x".repeat(400));
  expect(text).toBe(104);
  const tool = {
    name: "t",
    description: "x".repeat(800),
    input_schema: { type: "object" as const },
  };
  expect(await count("x".repeat(400), [tool])).toBeGreaterThan(text + 200);
  const source = { type: "base64", media_type: "image/png", data: "AAAA" } as const;
  expect(await count([{ type: "image", source }])).toBe(1604);
  const pdf = Buffer.from("/Type /Pages /Type /Page x /Type/Page").toString("base64");
  const file = { type: "base64", media_type: "application/pdf", data: pdf } as const;
  expect(await count([{ type: "document", source: file }])).toBe(4004);
});

it("the models of the configuration are listed in the shape of the client's API", async () => {
  const gateway = await startAiGateway(
    "127.0.0.1:9",
    { "/v1/models": "models" },
    { ai: { modelAliases: { fast: "gpt-5-mini", "gpt-*": "gpt-5", good: "gpt-5" } } },
  );
  const models = openai(gateway).models;
  expect((await models.list()).data).toEqual([
    { id: "fast", object: "model", created: 0, owned_by: "openai" },
    { id: "good", object: "model", created: 0, owned_by: "openai" },
  ]);
  expect(await models.retrieve("good")).toMatchObject({ id: "good" });
  await expect(models.retrieve("bad")).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  const other = anthropic(gateway).models;
  const seen: string[] = [];
  for await (const { id } of other.list({ limit: 1 })) seen.push(id);
  expect(seen).toEqual(["fast", "good"]);
  expect(await other.retrieve("fast")).toMatchObject({ type: "model", display_name: "fast" });
  await expect(other.retrieve("bad")).rejects.toMatchObject({
    status: 404,
    error: { error: { type: "not_found_error" } },
  });
});

it("a fixed model is the one that is listed", async () => {
  const provider = { openAI: { model: "gpt-5" } };
  const gateway = await startAiGateway("127.0.0.1:9", { "/v1/models": "models" }, { provider });
  const ids = (await openai(gateway).models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(["gpt-5"]);
});

it("what passes has its method, path, query and bytes, and the gateway's credentials", async () => {
  const provider = await startScripted((response, _, { body }) => {
    response.writeHead(201, { "content-type": "audio/wav", "x-from": "provider" });
    response.end(Buffer.concat([body, Buffer.from([0, 255])]));
  });
  const gateway = await startAiGateway(provider.host, { "*": "passthrough" });
  const sent = Buffer.from([1, 2, 254, 255]);
  const response = await fetch(`${gateway.url}/v1/audio/speech?x=1&x=2`, {
    method: "PUT",
    headers: { "content-type": "audio/mpeg", authorization: "Bearer client-key" },
    body: sent,
  });
  expect(response.status).toBe(201);
  expect(response.headers.get("content-type")).toBe("audio/wav");
  expect(response.headers.get("x-llm-provider")).toBe("openai");
  expect(Buffer.from(await response.arrayBuffer())).toEqual(
    Buffer.concat([sent, Buffer.from([0, 255])]),
  );
  const [received] = provider.received;
  expect(received).toMatchObject({ method: "PUT", url: "/v1/audio/speech?x=1&x=2" });
  expect(received?.headers).toMatchObject({
    "content-type": "audio/mpeg",
    authorization: "Bearer provider-key",
    host: provider.host,
  });
  expect(received?.body).toEqual(sent);
});

it("what passes goes to the path of the configuration where there is one", async () => {
  const provider = await startSaying({});
  const gateway = await startAiGateway(
    provider.host,
    { "*": "passthrough" },
    { backend: { pathOverride: "/own" } },
  );
  await send(`${gateway.url}/v1/anything?a=b`, "DELETE");
  expect(provider.received[0]).toMatchObject({ method: "DELETE", url: "/own?a=b" });
});

it("the longest end of a path says what it carries", async () => {
  const host = (await startProvider([{ prompt: "Hello", response: { content: "Hi." } }])).host;
  const gateway = await startAiGateway(host, {
    "/v1/chat/completions": "completions",
    "/v1/models": "models",
    "*": "passthrough",
    "/completions": "passthrough",
  });
  const completion = await openai(gateway).chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Hello" }],
  });
  expect(completion.choices[0]?.message.content).toBe("Hi.");
  expect(JSON.parse((await send(`${gateway.url}/v1/models`, "GET")).body).data).toEqual([]);
});

it("methods that an API does not have are refused in its format", async () => {
  const gateway = await startAiGateway("127.0.0.1:9", {
    "/v1/chat/completions": "completions",
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "tokenCount",
    "/v1/responses": "responses",
    "/v1/embeddings": "embeddings",
    "/v1/models": "models",
  });
  for (const path of [
    "chat/completions",
    "responses",
    "embeddings",
    "messages",
    "messages/count_tokens",
  ]) {
    const { status, headers, body } = await send(`${gateway.url}/v1/${path}`, "GET");
    expect([path, status, headers.allow]).toEqual([path, 405, "POST"]);
    const isAnthropic = path.startsWith("messages");
    expect("type" in JSON.parse(body)).toBe(isAnthropic);
  }
  const { status, headers } = await send(`${gateway.url}/v1/models`, "POST");
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});

it("a request for a list of models on a route without one is refused", async () => {
  const gateway = await startAiGateway("127.0.0.1:9", { "*": "completions" });
  const { status, body } = await send(`${gateway.url}/v1/models`, "GET");
  expect(status).toBe(405);
  const { error } = JSON.parse(body);
  expect(error.message).toBe("this path takes POST, not GET: the gateway lists no models here");
});

it("the path of another server's URL precedes those of the API", async () => {
  const provider = await startSaying({});
  const routes = { "/v1/chat/completions": "completions", "*": "passthrough" };
  const gateway = await startAiGateway(`http://${provider.host}/base/`, routes);
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
  await send(`${gateway.url}/v1/files?a=b`, "DELETE");
  const urls = provider.received.map(({ url }) => url);
  expect(urls).toEqual(["/base/v1/chat/completions", "/base/v1/files?a=b"]);
});
