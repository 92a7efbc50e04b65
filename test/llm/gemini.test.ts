import Anthropic from "@anthropic-ai/sdk";
import {
  BlockedReason,
  FinishReason,
  FunctionCallingConfigMode,
  ThinkingLevel,
  Type,
} from "@google/genai";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  bodyOf,
  type GenerateContentBody,
  type GenerateContentPiece,
  startGenerateContent,
} from "../harness/generate-content.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

/** A gateway whose clients may speak either format, in front of Gemini. */
function startGemini({ host }: Scripted, model = "gemini-2.5-flash"): Promise<Gateway> {
  const routes = { "/v1/messages": "messages", "*": "completions" };
  return startAiGateway(host, routes, { provider: { gemini: { model } } });
}

function anthropic({ url }: Gateway): Anthropic {
  return new Anthropic({ apiKey: "client-key", baseURL: url, maxRetries: 0 });
}

const hello = {
  model: "m",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello" }],
};

function said(...parts: object[]): GenerateContentPiece {
  return {
    responseId: "r-1",
    modelVersion: "gemini-2.5-flash-001",
    candidates: [{ content: { role: "model", parts }, finishReason: FinishReason.STOP, index: 0 }],
    usageMetadata: {
      promptTokenCount: 10,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 7,
      totalTokenCount: 22,
    },
  };
}

it("OpenAI's client reaches Gemini's server of that format with its own body", async () => {
  const server = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}',
    );
  });
  const gateway = await startGemini(server);
  const body =
    '{"model": "gemini-2.5-flash", "seed": 9007199254740993,  "messages": [{"role":"user","content":"Hi"}]}';
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
  expect(response.status).toBe(200);
  const [received] = server.received;
  expect(received?.url).toBe("/v1beta/openai/chat/completions");
  expect(received?.headers.authorization).toBe("Bearer provider-key");
  expect(received?.headers["x-goog-api-key"]).toBeUndefined();
  expect(received?.body.toString()).toBe(body);
});

it("Anthropic's client gets text, thoughts and tokens of Gemini", async () => {
  const thought = { text: "Hmm.", thought: true };
  const server = await startGenerateContent(said(thought, { text: "Hi " }, { text: "there." }));
  const client = anthropic(await startGemini(server));
  const request = { ...hello, thinking: { type: "enabled" as const, budget_tokens: 2000 } };
  const whole = await client.messages.create({ ...request, max_tokens: 4000 });
  const streamed = await client.messages.stream({ ...request, max_tokens: 4000 }).finalMessage();
  expect(whole.content).toMatchObject([
    { type: "thinking", thinking: "Hmm." },
    { type: "text", text: "Hi there." },
  ]);
  expect(streamed.content).toMatchObject([
    { type: "thinking", thinking: "Hmm." },
    { type: "text", text: "Hi there." },
  ]);
  for (const message of [whole, streamed]) {
    expect(message).toMatchObject({
      id: "r-1",
      model: "gemini-2.5-flash-001",
      stop_reason: "end_turn",
      usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 12 },
    });
  }
  const [first, second] = server.received;
  expect(first?.url).toBe("/v1beta/models/gemini-2.5-flash:generateContent");
  expect(second?.url).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  expect(first?.headers["x-goog-api-key"]).toBe("provider-key");
  expect(first?.headers.authorization).toBeUndefined();
  expect(bodyOf(first)).toEqual({
    contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    generationConfig: {
      maxOutputTokens: 4000,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
    },
  } satisfies GenerateContentBody);
});

it("parallel calls, results and signatures of thoughts are converted both ways", async () => {
  const first = { name: "get_weather", args: { city: "Paris" } };
  const second = { name: "get_weather", args: { city: "Rome" } };
  const server = await startGenerateContent(
    said({ functionCall: first, thoughtSignature: "c2lnbmVk" }, { functionCall: second }),
  );
  const client = anthropic(await startGemini(server, "gemini-3-pro-preview"));
  const request = {
    ...hello,
    tools: [
      {
        name: "get_weather",
        description: "Weather of a city",
        input_schema: {
          type: "object" as const,
          properties: { city: { $ref: "#/$defs/City" }, day: { type: ["integer", "null"] } },
          required: ["city"],
          additionalProperties: false,
          $defs: { City: { type: "string", format: "hostname", minLength: 1 } },
        },
      },
    ],
    tool_choice: { type: "tool" as const, name: "get_weather" },
  };
  const whole = await client.messages.create(request);
  const streamed = await client.messages.stream(request).finalMessage();
  for (const { content, stop_reason } of [whole, streamed]) {
    expect(stop_reason).toBe("tool_use");
    expect(content).toMatchObject([
      { type: "thinking" },
      { type: "tool_use", name: "get_weather", input: { city: "Paris" } },
      { type: "tool_use", name: "get_weather", input: { city: "Rome" } },
    ]);
  }
  const calls = streamed.content.filter((block) => block.type === "tool_use");
  await client.messages.create({
    ...request,
    system: "Be brief.",
    messages: [
      ...request.messages,
      { role: "assistant", content: streamed.content },
      {
        role: "user",
        // The order of results is the client's.
        content: calls.toReversed().map(({ id, input }) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: JSON.stringify(input),
          is_error: true,
        })),
      },
    ],
  });
  expect(bodyOf(server.received[2])).toEqual({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      { role: "user", parts: [{ text: "Hello" }] },
      {
        role: "model",
        parts: [{ functionCall: first, thoughtSignature: "c2lnbmVk" }, { functionCall: second }],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "get_weather", response: { error: '{"city":"Paris"}' } } },
          { functionResponse: { name: "get_weather", response: { error: '{"city":"Rome"}' } } },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: "get_weather",
            description: "Weather of a city",
            parameters: {
              type: Type.OBJECT,
              properties: {
                city: {
                  ...{ type: Type.STRING, minLength: "1" },
                  description: '{format: "hostname"}',
                },
                day: { type: Type.INTEGER, nullable: true },
              },
              required: ["city"],
            },
          },
        ],
      },
    ],
    toolConfig: {
      functionCallingConfig: {
        mode: FunctionCallingConfigMode.ANY,
        allowedFunctionNames: ["get_weather"],
      },
    },
    generationConfig: { maxOutputTokens: 100 },
  } satisfies GenerateContentBody);
});

it("images, documents, structured output and effort are converted for Gemini", async () => {
  const server = await startGenerateContent(said({ text: '{"a":1}' }));
  const client = anthropic(await startGemini(server, "gemini-3-flash-preview"));
  const image = { type: "base64" as const, media_type: "image/png" as const, data: "aW1n" };
  const sampling = { temperature: 0.5, top_k: 3 };
  const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "cGRm" };
  await client.messages.create({
    ...hello,
    messages: [
      { role: "assistant", content: "Show me." },
      {
        role: "user",
        content: [
          { type: "image", source: image },
          { type: "document", source: pdf },
        ],
      },
    ],
    ...sampling,
    stop_sequences: ["END"],
    thinking: { type: "adaptive" },
    output_config: {
      effort: "medium",
      format: {
        type: "json_schema",
        schema: { type: "object", properties: { a: { type: "integer", const: 1 } } },
      },
    },
  });
  expect(bodyOf(server.received[0])).toEqual({
    contents: [
      { role: "user", parts: [{ text: " " }] },
      { role: "model", parts: [{ text: "Show me." }] },
      {
        role: "user",
        parts: [
          { inlineData: { mimeType: "image/png", data: "aW1n" } },
          { inlineData: { mimeType: "application/pdf", data: "cGRm" } },
          { text: " " },
        ],
      },
    ],
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 0.5,
      topK: 3,
      stopSequences: ["END"],
      thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.MEDIUM },
      responseMimeType: "application/json",
      responseSchema: {
        type: Type.OBJECT,
        properties: { a: { type: Type.INTEGER, minimum: 1, maximum: 1 } },
      },
    },
  } satisfies GenerateContentBody);
});

it("unsupported input for Gemini is refused by its field", async () => {
  const server = await startGenerateContent(said({ text: "never" }));
  const client = anthropic(await startGemini(server));
  const url = { type: "url" as const, url: "https://images.test/a.png" };
  const image = client.messages.create({
    ...hello,
    messages: [{ role: "user", content: [{ type: "image", source: url }] }],
  });
  await expect(image).rejects.toThrow("messages[0].content[0].source.url");
  const schema = { type: "object" as const, properties: { child: { $ref: "#" } } };
  const recursive = client.messages.create({
    ...hello,
    tools: [{ name: "tree", input_schema: schema }],
  });
  await expect(recursive).rejects.toMatchObject({
    status: 400,
    message: /the schema of tool \\"tree\\" refers to itself/,
  });
  const orphan = client.messages.create({
    ...hello,
    messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "" }] }],
  });
  await expect(orphan).rejects.toThrow("there is no tool call");
  expect(server.received).toHaveLength(0);
});

it("a blocked prompt is a refusal, a limit is a limit, a broken call is an error", async () => {
  const blocked = { promptFeedback: { blockReason: BlockedReason.SAFETY } };
  const cut = {
    candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: FinishReason.MAX_TOKENS }],
  };
  const broken = { candidates: [{ finishReason: FinishReason.MALFORMED_FUNCTION_CALL }] };
  for (const [piece, reason] of [
    [blocked, "refusal"],
    [cut, "max_tokens"],
  ] as const) {
    const client = anthropic(await startGemini(await startGenerateContent(piece)));
    expect((await client.messages.create(hello)).stop_reason).toBe(reason);
    expect((await client.messages.stream(hello).finalMessage()).stop_reason).toBe(reason);
  }
  const client = anthropic(await startGemini(await startGenerateContent(broken)));
  await expect(client.messages.create(hello)).rejects.toMatchObject({ status: 502 });
  await expect(client.messages.stream(hello).finalMessage()).rejects.toMatchObject({ status: 502 });
});

it.each([
  [400, "INVALID_ARGUMENT", "invalid_request_error", 400],
  [401, "UNAUTHENTICATED", "api_error", 502],
  [403, "PERMISSION_DENIED", "permission_error", 403],
  [404, "NOT_FOUND", "not_found_error", 404],
  [429, "RESOURCE_EXHAUSTED", "rate_limit_error", 429],
  [500, "INTERNAL", "api_error", 500],
  [503, "UNAVAILABLE", "overloaded_error", 529],
])("status %i of Gemini (%s) is %s for Anthropic's client", async (status, word, type, seen) => {
  const server = await startScripted((response) => {
    response.writeHead(status, { "content-type": "application/json" });
    const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "33.2s" };
    const details = status === 429 ? [info] : [];
    response.end(
      JSON.stringify([{ error: { code: status, message: "no", status: word, details } }]),
    );
  });
  const client = anthropic(await startGemini(server));
  const error = await client.messages.create(hello).catch((thrown) => thrown);
  expect(error).toMatchObject({ status: seen, error: { error: { type } } });
  expect(error.headers.get("retry-after")).toBe(status === 429 ? "34" : null);
});

it("an invalid key of the gateway is not reported as the client's mistake", async () => {
  const server = await startScripted((response) => {
    response.writeHead(400, { "content-type": "application/json" });
    const details = [{ reason: "API_KEY_INVALID", domain: "googleapis.com" }];
    response.end(
      JSON.stringify({
        error: { code: 400, message: "bad key", status: "INVALID_ARGUMENT", details },
      }),
    );
  });
  const error = await anthropic(await startGemini(server))
    .messages.create(hello)
    .catch((thrown) => thrown);
  expect(error.status).toBe(502);
  expect(error.message).not.toContain("bad key");
});

it("a stream that ends before it is complete ends with an error", async () => {
  const half = { candidates: [{ content: { parts: [{ text: "Hi" }] } }] };
  const client = anthropic(await startGemini(await startGenerateContent(half)));
  await expect(client.messages.stream(hello).finalMessage()).rejects.toThrow(
    "before it was complete",
  );
});

it("a client's own key is sent in Gemini's header", async () => {
  const server = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...said({ text: "Hi" }), choices: [] }));
  });
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { passthrough: {} },
              ai: { routes: { "/v1/messages": "messages", "*": "completions" } },
            },
            backends: [{ ai: { provider: { gemini: {} }, hostOverride: server.host } }],
          },
        ],
      },
    ],
  });
  await anthropic(gateway).messages.create({ ...hello, model: "gemini-2.5-flash" });
  const client = new OpenAI({ apiKey: "client-key", baseURL: `${gateway.url}/v1` });
  await client.chat.completions.create({ model: "gemini-2.5-flash", messages: hello.messages });
  const [messages, completions] = server.received;
  expect(messages?.headers["x-goog-api-key"]).toBe("client-key");
  expect(messages?.headers.authorization).toBeUndefined();
  expect(completions?.headers.authorization).toBe("Bearer client-key");
});
