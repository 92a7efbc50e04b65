import Anthropic from "@anthropic-ai/sdk";
import { FinishReason } from "@google/genai";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  bodyOf,
  type GenerateContentBody,
  startGenerateContent,
} from "../harness/generate-content.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

/** A gateway whose clients may speak either format, in front of Vertex AI. */
function startVertex({ host }: Scripted, model?: string): Promise<Gateway> {
  const vertex = { projectId: "p-1", region: "europe-west1", ...(model && { model }) };
  return startGateway({
    env: { TOKEN: "token" },
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { key: "${TOKEN}" },
              ai: {
                routes: { "/v1/messages": "messages", "*": "completions" },
                ...(model === undefined && { modelAliases: { fast: "gemini-2.5-flash" } }),
              },
            },
            backends: [{ ai: { provider: { vertex }, hostOverride: host } }],
          },
        ],
      },
    ],
  });
}

const base = "/v1/projects/p-1/locations/europe-west1";
const hello = [{ role: "user" as const, content: "Hello" }];

/** The Messages API as Vertex AI has it, and its chat completions. */
function startClaude(): Promise<Scripted> {
  return startScripted((response, _count, { url, body }) => {
    const isChat = url.endsWith("/endpoints/openapi/chat/completions");
    const sent = JSON.parse(body.toString());
    const isRight =
      isChat || (sent.anthropic_version === "vertex-2023-10-16" && !("model" in sent));
    response.writeHead(isRight ? 200 : 400, { "content-type": "application/json" });
    const content = [{ type: "text", text: "Hi" }];
    const usage = { input_tokens: 1, output_tokens: 2 };
    const message = { id: "m", type: "message", role: "assistant", content, usage, model: "c" };
    const choices = [
      { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" },
    ];
    response.end(JSON.stringify(isChat ? { id: "c", model: "l", choices } : message));
  });
}

it("Anthropic's bytes reach Claude with what Vertex AI wants otherwise, and no more", async () => {
  const server = await startClaude();
  const gateway = await startVertex(server, "claude-sonnet-4-5-20250929");
  const cache = '"cache_control": {"type": "ephemeral", "scope": "global", "ttl": "1h"}';
  const messages = `[{"role": "user",  "content": [{"type":"text","text":"\\u00e4 \\"scope\\"", ${cache}}]}]`;
  const body = `{"model": "x", "max_tokens": 12345678901234567890, "output_format": {}, "messages": ${messages}}`;
  const response = await fetch(`${gateway.url}/v1/messages`, { method: "POST", body });
  expect(response.status).toBe(200);
  const [received] = server.received;
  expect(received?.url).toBe(
    `${base}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
  );
  expect(received?.headers.authorization).toBe("Bearer token");
  const kept = messages.replace(cache, '"cache_control": {"type": "ephemeral","ttl": "1h"}');
  expect(received?.body.toString()).toBe(
    `{"max_tokens": 12345678901234567890,"messages": ${kept},"anthropic_version":"vertex-2023-10-16"}`,
  );
});

it("the model of a request says what is spoken with Vertex AI", async () => {
  const claude = await startClaude();
  const gateway = await startVertex(claude);
  const openai = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "k", baseURL: gateway.url, maxRetries: 0 });
  for (const model of ["publishers/anthropic/models/claude-opus-4-1", "meta/llama-4-maverick"]) {
    const { choices } = await openai.chat.completions.create({ model, messages: hello });
    expect(choices[0]?.message.content).toBe("Hi");
    const { content } = await anthropic.messages.create({ model, max_tokens: 5, messages: hello });
    expect(content).toMatchObject([{ type: "text", text: "Hi" }]);
  }
  const opus = `${base}/publishers/anthropic/models/claude-opus-4-1:rawPredict`;
  const chat = `${base}/endpoints/openapi/chat/completions`;
  expect(claude.received.map(({ url }) => url)).toEqual([opus, opus, chat, chat]);
});

it("OpenAI's client gets calls of Gemini, and signatures of thoughts go back with them", async () => {
  const call = { name: "get_weather", args: { city: "Paris" } };
  const server = await startGenerateContent({
    candidates: [
      {
        content: { role: "model", parts: [{ functionCall: call, thoughtSignature: "c2ln" }] },
        finishReason: FinishReason.STOP,
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 4 },
  });
  const gateway = await startVertex(server);
  const openai = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const request = {
    model: "fast",
    messages: hello,
    reasoning_effort: "low" as const,
    tools: [{ type: "function" as const, function: { name: "get_weather" } }],
  };
  const whole = await openai.chat.completions.create(request);
  const streamed = await openai.chat.completions
    .stream({ ...request, stream_options: { include_usage: true } })
    .finalChatCompletion();
  for (const { choices, usage } of [whole, streamed]) {
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Paris"}' } }],
      },
    });
  }
  const message = whole.choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id ?? "";
  await openai.chat.completions.create({
    ...request,
    messages: [...hello, message ?? hello[0], { role: "tool", tool_call_id: id, content: "20" }],
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);
  const model = `${base}/publishers/google/models/gemini-2.5-flash`;
  expect(server.received.map(({ url }) => url)).toEqual([
    `${model}:generateContent`,
    `${model}:streamGenerateContent?alt=sse`,
    `${model}:generateContent`,
  ]);
  expect(bodyOf(server.received[2])).toEqual({
    contents: [
      { role: "user", parts: [{ text: "Hello" }] },
      { role: "model", parts: [{ functionCall: call, thoughtSignature: "c2ln" }] },
      {
        role: "user",
        parts: [{ functionResponse: { name: "get_weather", response: { output: "20" } } }],
      },
    ],
    tools: [{ functionDeclarations: [{ name: "get_weather" }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
  } satisfies GenerateContentBody);
});

it("without other credentials Vertex AI is shown the token of the machine", async () => {
  const metadata = await startScripted((response) => {
    response.end('{"access_token":"of-the-machine","expires_in":3600}');
  });
  const server = await startClaude();
  const vertex = { projectId: "p-1", model: "claude-opus-4-1" };
  const gateway = await startGateway({
    env: { GCE_METADATA_HOST: metadata.host, GOOGLE_APPLICATION_CREDENTIALS: "" },
    listeners: [
      { routes: [{ backends: [{ ai: { provider: { vertex }, hostOverride: server.host } }] }] },
    ],
  });
  const client = new OpenAI({ apiKey: "client-key", baseURL: `${gateway.url}/v1` });
  await client.chat.completions.create({ model: "m", messages: hello });
  expect(server.received[0]?.headers.authorization).toBe("Bearer of-the-machine");
  expect(JSON.stringify(server.received[0]?.headers)).not.toContain("client-key");
});

/** A gateway in front of Vertex AI for one kind of request, which responds with a body. */
async function startType(type: string, body: object, model?: string) {
  const server = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  const vertex = { projectId: "p-1", region: "europe-west1", ...(model && { model }) };
  const gateway = await startGateway({
    env: { TOKEN: "token" },
    listeners: [
      {
        routes: [
          {
            policies: { backendAuth: { key: "${TOKEN}" }, ai: { routes: { "*": type } } },
            backends: [{ ai: { provider: { vertex }, hostOverride: server.host } }],
          },
        ],
      },
    ],
  });
  return { gateway, received: server.received };
}

it("Vertex AI embeds texts for OpenAI's client", async () => {
  const prediction = (values: readonly number[], tokens: number) => ({
    embeddings: { values, statistics: { token_count: tokens, truncated: false } },
  });
  const body = { predictions: [prediction([0.5, -0.25], 2), prediction([1, 0], 3)] };
  const { gateway, received } = await startType("embeddings", body);
  const client = new OpenAI({ apiKey: "c", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const found = await client.embeddings.create({
    model: "text-embedding-005",
    input: ["one", "two"],
    dimensions: 2,
  });
  expect(found.data.map(({ embedding }) => embedding)).toEqual([
    [0.5, -0.25],
    [1, 0],
  ]);
  expect(found.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
  expect(received[0]?.url).toBe(`${base}/publishers/google/models/text-embedding-005:predict`);
  expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({
    instances: [{ content: "one" }, { content: "two" }],
    parameters: { autoTruncate: false, outputDimensionality: 2 },
  });
  const several = client.embeddings.create({ model: "gemini-embedding-001", input: ["a", "b"] });
  await expect(several).rejects.toMatchObject({ status: 400, param: "input" });
});

it("Vertex AI counts the tokens of requests to Claude", async () => {
  const model = "claude-sonnet-4-5@20250929";
  const { gateway, received } = await startType("tokenCount", { input_tokens: 7 }, model);
  const client = new Anthropic({ apiKey: "c", baseURL: gateway.url, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello" }];
  const counted = await client.messages.countTokens({ model: "any", messages });
  expect(counted.input_tokens).toBe(7);
  expect(received[0]?.url).toBe(`${base}/publishers/anthropic/models/count-tokens:rawPredict`);
  expect(JSON.parse(received[0]?.body.toString() ?? "")).toEqual({
    ...{ model, messages },
    anthropic_version: "vertex-2023-10-16",
  });
});
