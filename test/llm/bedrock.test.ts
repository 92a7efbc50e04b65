import Anthropic from "@anthropic-ai/sdk";
import {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { awsException } from "../harness/aws-event-stream.ts";
import { expectedSignature } from "../harness/aws-signature.ts";
import {
  type ConverseBody,
  converseResponse,
  converseStream,
  type Wire,
} from "../harness/bedrock.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

const claude = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };

/** What the provider does with the next request. */
interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface Started extends Scripted {
  readonly gateway: Gateway;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  reply: Reply;
  /** The body of the last request. */
  readonly body: () => unknown;
}

const helloResponse = { body: converseResponse([{ text: "Hi there." }], "end_turn") };

async function start(
  provider: object = {},
  policies: object = {},
  backendAuth?: object,
): Promise<Started> {
  const state = { reply: helloResponse as Reply };
  const upstream = await startScripted((response, _, { url }) => {
    const { status = 200, headers = {}, body } = state.reply;
    const type = url.endsWith("-stream")
      ? "application/vnd.amazon.eventstream"
      : "application/json";
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  });
  const gateway = await startGateway({
    env: {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      KEY: "bedrock-key",
    },
    listeners: [
      {
        routes: [
          {
            policies: {
              ...(backendAuth && { backendAuth }),
              ai: { routes: everyFormat, ...policies },
            },
            backends: [
              {
                ai: {
                  name: "bedrock",
                  provider: { bedrock: { region: "eu-west-1", ...provider } },
                  hostOverride: upstream.host,
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const { url } = gateway;
  return Object.assign(state, upstream, {
    gateway,
    openai: new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0 }),
    body: (): unknown => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? ""),
  });
}

const hello = [{ role: "user" as const, content: "Hello" }];
const usage = { inputTokens: 3, outputTokens: 7, totalTokens: 10 };

const toolStream = converseStream([
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Let me " } } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "see ✓" } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  {
    contentBlockStart: {
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: "t1", name: "weather" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":' } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '"Paris"}' } } } },
  { contentBlockStop: { contentBlockIndex: 1 } },
  {
    contentBlockStart: {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: "t2", name: "weather" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '{"city":"Rome"}' } } } },
  { contentBlockStop: { contentBlockIndex: 2 } },
  { messageStop: { stopReason: "tool_use" } },
  { metadata: { usage, metrics: { latencyMs: 1 } } },
] as Wire<ConverseStreamOutput>[]);

it("OpenAI's client talks to Bedrock: the request is signed, and its model in the path", async () => {
  const { openai, received, body } = await start();
  const model = "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-x";
  const completion = await openai.chat.completions.create({
    model,
    messages: [{ role: "system", content: "Be kind." }, ...hello],
    max_tokens: 100,
    temperature: 1.5,
    stop: ["END"],
  });
  expect(completion).toMatchObject({
    model,
    choices: [{ message: { content: "Hi there." }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 20,
      completion_tokens: 7,
      total_tokens: 27,
      prompt_tokens_details: { cached_tokens: 12 },
    },
  });
  const [request] = received;
  if (request === undefined) throw new Error("nothing was received");
  expect(request.url).toBe(`/model/${encodeURIComponent(model)}/converse`);
  expect(request.headers.authorization).toBe(
    await expectedSignature(request, keys, { region: "eu-west-1", service: "bedrock" }),
  );
  expect(body()).toEqual({
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
    system: [{ text: "Be kind." }],
    inferenceConfig: { maxTokens: 100, temperature: 1, stopSequences: ["END"] },
  } satisfies ConverseBody);
});

it("a stream with text and parallel tools reaches either client", async () => {
  const started = await start();
  started.reply = { body: toolStream };
  const { openai, anthropic, received } = started;
  const tool = { name: "weather", parameters: { type: "object", properties: {} } };
  const completion = await openai.chat.completions
    .stream({ model: claude, messages: hello, tools: [{ type: "function", function: tool }] })
    .finalChatCompletion();
  expect(completion.choices[0]).toMatchObject({
    message: {
      content: "Let me see ✓",
      tool_calls: [
        { id: "t1", function: { name: "weather", arguments: '{"city":"Paris"}' } },
        { id: "t2", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      ],
    },
    finish_reason: "tool_calls",
  });
  const message = await anthropic.messages
    .stream({ model: claude, max_tokens: 100, messages: hello })
    .finalMessage();
  expect(message).toMatchObject({
    content: [
      { type: "text", text: "Let me see ✓" },
      { type: "tool_use", id: "t1", input: { city: "Paris" } },
      { type: "tool_use", id: "t2", input: { city: "Rome" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 7 },
  });
  expect(received[0]?.url).toBe(`/model/${encodeURIComponent(claude)}/converse-stream`);
});

it("AWS's own client reads the stream that these tests send", async () => {
  const server = await startScripted((response) =>
    response
      .writeHead(200, { "content-type": "application/vnd.amazon.eventstream" })
      .end(toolStream),
  );
  const client = new BedrockRuntimeClient({
    region: "eu-west-1",
    credentials: keys,
    endpoint: `http://${server.host}`,
    requestHandler: new NodeHttpHandler(),
  });
  const { stream } = await client.send(
    new ConverseStreamCommand({ modelId: claude, messages: [] }),
  );
  const names: string[] = [];
  for await (const event of stream ?? []) names.push(...Object.keys(event));
  expect(names).toEqual([
    "messageStart",
    ...["contentBlockDelta", "contentBlockDelta", "contentBlockStop"],
    ...["contentBlockStart", "contentBlockDelta", "contentBlockDelta", "contentBlockStop"],
    ...["contentBlockStart", "contentBlockDelta", "contentBlockStop"],
    ...["messageStop", "metadata"],
  ]);
});

it("a conversation with tools, images, documents and thoughts is written as Bedrock takes it", async () => {
  const { anthropic, body } = await start({
    guardrailIdentifier: "gr1",
    guardrailVersion: "DRAFT",
  });
  const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "cGRm" };
  const longId = `toolu_${"x".repeat(90)}`;
  await anthropic.messages.create(
    {
      model: claude,
      max_tokens: 5000,
      thinking: { type: "enabled", budget_tokens: 2000 },
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "weather", description: "", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "cG5n" } },
            { type: "document", title: "a/b: report.pdf", source: pdf },
            { type: "document", title: "a b report pdf", source: pdf },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "sig" },
            { type: "redacted_thinking", data: "c2VjcmV0" },
            { type: "tool_use", id: longId, name: "weather", input: { city: "Paris" } },
            { type: "tool_use", id: "t2", name: "weather", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: longId, content: "Sunny" },
            { type: "tool_result", tool_use_id: "t2", is_error: true },
          ],
        },
      ],
    },
    {
      headers: {
        "anthropic-beta": "context-1m-2025-08-07,fast-mode-2026-02-01",
        "x-bedrock-metadata": '{"team":"a"}',
      },
    },
  );
  const sent = body() as ConverseBody;
  const id = sent.messages?.[1]?.content?.[2]?.toolUse?.toolUseId ?? "";
  expect(id).toMatch(/^[a-zA-Z0-9_-]{64}$/);
  expect(sent).toEqual({
    messages: [
      {
        role: "user",
        content: [
          { image: { format: "png", source: { bytes: "cG5n" } } },
          { document: { format: "pdf", name: "a b report pdf", source: { bytes: "cGRm" } } },
          { document: { format: "pdf", name: "a b report pdf (2)", source: { bytes: "cGRm" } } },
          { text: "The document." },
        ],
      },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
          { reasoningContent: { redactedContent: "c2VjcmV0" } },
          { toolUse: { toolUseId: id, name: "weather", input: { city: "Paris" } } },
          { toolUse: { toolUseId: "t2", name: "weather", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: id, content: [{ text: "Sunny" }] } },
          { toolResult: { toolUseId: "t2", content: [{ text: "(nothing)" }], status: "error" } },
        ],
      },
    ],
    system: [{ text: "Be kind." }, { cachePoint: { type: "default" } }],
    inferenceConfig: { maxTokens: 5000 },
    toolConfig: {
      tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }],
      toolChoice: { auto: {} },
    },
    guardrailConfig: {
      guardrailIdentifier: "gr1",
      guardrailVersion: "DRAFT",
      trace: "enabled",
    },
    additionalModelRequestFields: {
      thinking: { type: "enabled", budget_tokens: 2000 },
      anthropic_beta: ["context-1m-2025-08-07"],
    },
    requestMetadata: { team: "a" },
  } satisfies ConverseBody);
});

it("parallel results are one turn, and a history with tools keeps a list of them", async () => {
  const { openai, body } = await start();
  const call = (id: string) => ({
    id,
    type: "function" as const,
    function: { name: "weather", arguments: "{}" },
  });
  await openai.chat.completions.create({
    model: claude,
    messages: [
      ...hello,
      { role: "assistant", tool_calls: [call("a"), call("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: "And?" },
    ],
  });
  const sent = body() as ConverseBody;
  expect(sent.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(sent.messages?.[2]?.content).toHaveLength(3);
  expect(sent.toolConfig?.tools).toHaveLength(1);
  expect(sent.toolConfig?.tools?.[0]?.toolSpec?.name).toBe("no_tool");
});

it("tools that must not be called are not sent, and Claude is told to call one at a time", async () => {
  const { openai, body } = await start();
  const tools = [{ type: "function" as const, function: { name: "weather" } }];
  await openai.chat.completions.create({
    model: claude,
    messages: hello,
    tools,
    tool_choice: "none",
  });
  expect(body()).not.toHaveProperty("toolConfig");
  const serial = { messages: hello, tools, parallel_tool_calls: false };
  await openai.chat.completions.create({ ...serial, model: claude, tool_choice: "required" });
  expect(body()).toMatchObject({
    additionalModelRequestFields: { tool_choice: { type: "any", disable_parallel_tool_use: true } },
  });
});

it("of several calls of a model that cannot be told so, the first one is passed on", async () => {
  const started = await start();
  const { openai } = started;
  const request = {
    model: "meta.llama3-3-70b-instruct-v1:0",
    messages: hello,
    tools: [{ type: "function" as const, function: { name: "weather" } }],
    parallel_tool_calls: false,
  };
  const calls = [{ id: "t1", function: { name: "weather", arguments: '{"city":"Paris"}' } }];
  started.reply = { body: toolStream };
  const streamed = await openai.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls).toMatchObject(calls);
  const use = (toolUseId: string, city: string) => ({
    toolUse: { toolUseId, name: "weather", input: { city } },
  });
  started.reply = {
    body: converseResponse([use("t1", "Paris"), use("t2", "Rome")], "tool_use"),
  };
  const whole = await openai.chat.completions.create(request);
  expect(whole.choices[0]?.message.tool_calls).toMatchObject(calls);
  expect(streamed.choices[0]?.message.tool_calls).toHaveLength(1);
  expect(whole.choices[0]?.message.tool_calls).toHaveLength(1);
});

it("structured output is asked for by its schema", async () => {
  const { openai, body } = await start();
  const schema = { type: "object", properties: { a: { type: "string" } } };
  await openai.chat.completions.create({
    model: claude,
    messages: hello,
    response_format: { type: "json_schema", json_schema: { name: "out", schema, strict: true } },
  });
  expect(body()).toEqual({
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
    outputConfig: {
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { name: "out", schema: JSON.stringify(schema) } },
      },
    },
  } satisfies ConverseBody);
});

it("what the gateway would have to fetch, and what no model takes, is refused by its field", async () => {
  const { openai, received } = await start();
  const image = (url: string) =>
    openai.chat.completions.create({
      model: claude,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
  const param = "messages[0].content[0].image_url.url";
  await expect(image("https://a.test/x.png")).rejects.toMatchObject({ status: 400, param });
  await expect(image("data:image/bmp;base64,Qk0=")).rejects.toMatchObject({ status: 400, param });
  expect(received).toEqual([]);
});

const words = Array.from({ length: 10 }, () => "word").join(" ");

it("the configuration's cache points stand behind long parts, for models that cache", async () => {
  const caching = { promptCaching: { cacheTools: true, minTokens: 20 } };
  const { openai, body } = await start({}, caching);
  const request = {
    messages: [
      { role: "system" as const, content: words },
      { role: "user" as const, content: words },
      { role: "assistant" as const, content: words },
      { role: "user" as const, content: "And?" },
    ],
    tools: [{ type: "function" as const, function: { name: "t", description: words } }],
  };
  await openai.chat.completions.create({ ...request, model: claude });
  const point = { cachePoint: { type: "default" } };
  const sent = body() as ConverseBody;
  // Tools alone are below the least size, tools and system are not.
  expect(sent.toolConfig?.tools).toHaveLength(1);
  expect(sent.system).toEqual([{ text: words }, point]);
  expect(sent.messages?.map(({ content }) => content?.length)).toEqual([1, 2, 1]);
  expect(sent.messages?.[1]?.content?.[1]).toEqual(point);
  for (const model of ["anthropic.claude-v2:1", "meta.llama3-3-70b-instruct-v1:0"]) {
    await openai.chat.completions.create({ ...request, model });
    expect(JSON.stringify(body())).not.toContain("cachePoint");
  }
});

it.each([
  [400, "ValidationException", "bad", 400, "invalid_request_error"],
  [400, "ValidationException", "Input is too long for requested model.", 400, "context"],
  [403, "AccessDeniedException", "arn:aws:sts::1:role/x", 403, "permission"],
  [403, "InvalidSignatureException", "signature", 502, "refused the gateway"],
  [404, "ResourceNotFoundException", "no model", 404, "no model"],
  [429, "ThrottlingException", "slow down", 429, "rate_limit"],
  [400, "ServiceQuotaExceededException", "quota", 400, "quota"],
  [503, "ServiceUnavailableException", "busy", 503, "busy"],
])("%s %s is told in the client's format", async (status, name, message, expected, text) => {
  const started = await start();
  started.reply = {
    status,
    headers: { "x-amzn-errortype": `${name}:http://internal.amazon.com/` },
    body: JSON.stringify({ message }),
  };
  const error = await started.openai.chat.completions
    .create({ model: claude, messages: hello })
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({ status: expected });
  expect(JSON.stringify(error)).toContain(text);
  expect(JSON.stringify(error)).not.toContain("arn:");
});

const begun = converseStream([
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hello" } } },
] as Wire<ConverseStreamOutput>[]);
const damaged = Buffer.from(begun);
damaged[damaged.length - 6] = 0x21;

it.each([
  [
    "an exception",
    Buffer.concat([begun, awsException("throttlingException", "slow down")]),
    "slow",
  ],
  ["a cut", begun, "before it was complete"],
  ["a cut inside a message", begun.subarray(0, -3), "before it was complete"],
  ["a bad checksum", Buffer.concat([begun, damaged]), "damaged"],
  ["an endless message", Buffer.concat([begun, Buffer.alloc(12, 0xff)]), "damaged"],
])("%s in a stream is an error for either client", async (_, body, text) => {
  const started = await start();
  started.reply = { body };
  const { openai, anthropic } = started;
  const completion = openai.chat.completions.stream({ model: claude, messages: hello });
  await expect(completion.finalChatCompletion()).rejects.toThrow(text);
  const message = anthropic.messages.stream({ model: claude, max_tokens: 9, messages: hello });
  await expect(message.finalMessage()).rejects.toThrow(text);
});

it("a key of Bedrock's own goes in Authorization, and nothing is signed", async () => {
  const { gateway, received } = await start({}, {}, { key: "${KEY}" });
  const openai = new OpenAI({ apiKey: "client", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  await openai.chat.completions.create({ model: claude, messages: hello });
  expect(received[0]?.headers.authorization).toBe("Bearer bedrock-key");
  expect(received[0]?.headers["x-amz-date"]).toBeUndefined();
});

it("OpenAI's client gets responses of Bedrock", async () => {
  const { openai } = await start();
  const response = await openai.responses.create({ model: claude, input: "Hello" });
  expect(response.output_text).toBe("Hi there.");
});
