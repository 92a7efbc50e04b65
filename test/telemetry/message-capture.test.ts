import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  type Attributes,
  attributesOf,
  items,
  type OtlpCollector,
  startCollector,
  startGrpcCollector,
} from "../harness/otlp-collector.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { asks } from "../llm/ask.ts";
import { chunk, complete, startStream } from "../llm/llm-upstream.ts";

type Respond = Parameters<typeof startScripted>[0];

const byScript: Respond = (response, _, request: Received) => complete(response, request);

/** A gateway that exports the messages of all calls, in spans. */
async function startCapture(
  { host }: OtlpCollector,
  capture: object,
  {
    respond = byScript,
    ai = {},
    policies = {},
    config = {},
  }: {
    readonly respond?: Respond;
    readonly ai?: object;
    readonly policies?: object;
    readonly config?: object;
  } = {},
): Promise<Gateway> {
  const upstream = await startScripted(respond);
  const provider = { provider: { openAI: { api: "completions" } }, hostOverride: upstream.host };
  return startGateway({
    env: { CI_KEY: "secret" },
    file: {
      config,
      frontendPolicies: { tracing: { host, protocol: "http", randomSampling: true, capture } },
    },
    listeners: [
      {
        routes: [
          {
            policies: {
              ...policies,
              ai: {
                ...ai,
                routes: {
                  "/v1/chat/completions": "completions",
                  "/v1/responses": "responses",
                  "/v1/messages": "messages",
                  ":generateContent": "generateContent",
                  ":streamGenerateContent": "generateContent",
                  "/converse": "converse",
                  "/converse-stream": "converse",
                },
              },
            },
            backends: [{ ai: provider }],
          },
        ],
      },
    ],
  });
}

/** The attributes of the spans of requests. */
async function attributesOfRequests(
  gateway: Gateway,
  collector: OtlpCollector,
): Promise<readonly Attributes[]> {
  expect(await gateway.stop()).toBe(0);
  return collector.spans
    .filter(({ kind }) => kind === "SPAN_KIND_SERVER")
    .map(({ attributes }) => attributes);
}

function messages(attributes: Attributes | undefined, name: string): unknown {
  return JSON.parse(String(attributes?.[name]));
}

const text = (content: string) => [{ type: "text", content }];

it.each(Object.entries(asks))(
  "a span has the messages of a client's call: %s",
  async (name, ask) => {
    const collector = await startCollector();
    const gateway = await startCapture(collector, {});
    await ask(gateway.url, "Who is there?");
    const [request] = await attributesOfRequests(gateway, collector);
    expect(messages(request, "gen_ai.input.messages")).toEqual([
      { role: "user", parts: text("Who is there?") },
    ]);
    const said = name.endsWith("Stream") ? "Hi there." : "Hi.";
    expect(messages(request, "gen_ai.output.messages")).toEqual([
      { role: "assistant", parts: text(said), finish_reason: "stop" },
    ]);
    expect(request).not.toHaveProperty(["llm.capture.truncated"]);
  },
);

it("a span names the caller and the cost as Langfuse reads them", async () => {
  const collector = await startCollector();
  const models = { "gpt-real": { rates: { input: 1e6 } } };
  const gateway = await startCapture(
    collector,
    {},
    {
      policies: { apiKey: { keys: [{ key: "${CI_KEY}", metadata: { name: "ci" } }] } },
      config: { modelCatalog: [{ inline: { providers: { openai: { models } } } }] },
    },
  );
  const { status } = await send(
    `${gateway.url}/v1/chat/completions`,
    "POST",
    { "content-type": "application/json", authorization: "Bearer secret" },
    JSON.stringify({ model: "gpt-real", messages: [{ role: "user", content: "Hi" }] }),
  );
  expect(status).toBe(200);
  const [request] = await attributesOfRequests(gateway, collector);
  // 20 tokens of input for a dollar each.
  expect(request).toMatchObject({ "user.id": "ci", "gen_ai.usage.cost": 20 });
});

// https://arize.com/docs/phoenix/release-notes/05-2026/05-15-2026-otel-semconv-conversion
it("the span with the messages has all attributes that Phoenix converts to OpenInference", async () => {
  const collector = await startCollector();
  const gateway = await startCapture(collector, {});
  await openai(gateway).chat.completions.create({
    model: "m",
    temperature: 0.5,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Who is there?" },
    ],
  });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(request).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.output_tokens": 5,
  });
  const [instructions, input, output] = [
    "system_instructions",
    "input.messages",
    "output.messages",
  ];
  expect(messages(request, `gen_ai.${instructions}`)).toEqual(text("Be brief."));
  expect(messages(request, `gen_ai.${input}`)).toEqual([
    { role: "user", parts: text("Who is there?") },
  ]);
  expect(messages(request, `gen_ai.${output}`)).toMatchObject([
    { role: "assistant", parts: text("Hi."), finish_reason: "stop" },
  ]);
});

const IMAGE = Buffer.alloc(3000, 7).toString("base64");

it("tools, system prompts and media have parts of their own, without the bytes of media", async () => {
  const collector = await startCollector();
  const calls = [
    { id: "c2", type: "function", function: { name: "f", arguments: '{"city":"Bonn"}' } },
  ];
  const gateway = await startCapture(
    collector,
    {},
    {
      respond: (response) => {
        const message = { role: "assistant", content: null, tool_calls: calls };
        const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ id: "1", object: "chat.completion", model: "m", choices }));
      },
    },
  );
  await openai(gateway).chat.completions.create({
    model: "m",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Where?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "nowhere" },
    ],
  });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(messages(request, "gen_ai.system_instructions")).toEqual(text("Be brief."));
  expect(messages(request, "gen_ai.input.messages")).toEqual([
    {
      role: "user",
      parts: [
        ...text("Where?"),
        { type: "blob", modality: "image", mime_type: "image/png", content: "", size: 3000 },
      ],
    },
    { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "f", arguments: {} }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "nowhere" }] },
  ]);
  expect(messages(request, "gen_ai.output.messages")).toEqual([
    {
      role: "assistant",
      parts: [{ type: "tool_call", id: "c2", name: "f", arguments: { city: "Bonn" } }],
      finish_reason: "tool_call",
    },
  ]);
});

it.each([false, true])("each choice of a completion is a message, streamed: %s", async (stream) => {
  const collector = await startCollector();
  const choice = (index: number, content: string) => ({
    index,
    message: { role: "assistant", content },
    finish_reason: index === 0 ? "stop" : "length",
  });
  const piece = (index: number, delta: object, finish: string | null = null) =>
    chunk(delta, finish).replace('"index":0', `"index":${index}`);
  const gateway = await startCapture(
    collector,
    {},
    {
      respond: (response) => {
        if (stream) {
          startStream(response);
          response.write(piece(0, { content: "o" }) + piece(1, { content: "t" }));
          response.write(piece(1, { content: "wo" }) + piece(0, { content: "ne" }));
          response.end(`${piece(0, {}, "stop")}${piece(1, {}, "length")}data: [DONE]\n\n`);
          return;
        }
        response.writeHead(200, { "content-type": "application/json" });
        const choices = [choice(0, "one"), choice(1, "two")];
        response.end(JSON.stringify({ id: "1", object: "chat.completion", model: "m", choices }));
      },
    },
  );
  await post(gateway, { model: "m", n: 2, stream, messages: [{ role: "user", content: "?" }] });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(messages(request, "gen_ai.output.messages")).toEqual([
    { role: "assistant", parts: text("one"), finish_reason: "stop" },
    { role: "assistant", parts: text("two"), finish_reason: "length" },
  ]);
});

it("messages are exported after the guards of a request, and with their patterns masked", async () => {
  const collector = await startCollector();
  const rules = [{ pattern: "Hunter[0-9]" }];
  const gateway = await startCapture(
    collector,
    { redact: [{ builtin: "email" }, { pattern: "4[0-9]{5}" }, { pattern: "Hi" }] },
    { ai: { promptGuard: { request: [{ regex: { action: "mask", rules } }] } } },
  );
  const args = JSON.stringify({ "a@example.com": 412345, size: 9 });
  await post(gateway, {
    model: "m",
    messages: [
      { role: "user", content: "I am a@example.com with Hunter2" },
      {
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }],
      },
      { role: "tool", tool_call_id: "c", content: "412345" },
    ],
  });
  const [request] = await attributesOfRequests(gateway, collector);
  const exported = JSON.stringify(collector.requests);
  for (const secret of ["a@example.com", "Hunter2", "412345", "Hi."])
    expect(exported).not.toContain(secret);
  expect(messages(request, "gen_ai.input.messages")).toEqual([
    { role: "user", parts: text("I am <EMAIL_ADDRESS> with <masked>") },
    {
      role: "assistant",
      parts: [
        {
          type: "tool_call",
          id: "c",
          name: "f",
          arguments: { "<EMAIL_ADDRESS>": "<masked>", size: 9 },
        },
      ],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "<masked>" }] },
  ]);
  expect(messages(request, "gen_ai.output.messages")).toMatchObject([{ parts: text("<masked>.") }]);
});

it("long messages stay valid JSON within the limit, the latest ones first", async () => {
  const collector = await startCollector();
  const gateway = await startCapture(collector, { maxBytes: 1000 });
  const turn = (content: string) => [
    { role: "user", content },
    { role: "assistant", content: "yes" },
  ];
  const last = { role: "user", content: "last" };
  await post(gateway, { model: "m", messages: [...turn("x".repeat(900)), last] });
  await post(gateway, { model: "m", messages: [{ role: "user", content: "😀".repeat(5000) }] });
  const [several, one] = await attributesOfRequests(gateway, collector);
  expect(messages(several, "gen_ai.input.messages")).toEqual([
    { role: "assistant", parts: text("yes") },
    { role: "user", parts: text("last") },
  ]);
  const cut = String(one?.["gen_ai.input.messages"]);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1000);
  expect(JSON.parse(cut)).toEqual([
    { role: "user", parts: text(expect.stringMatching(/^😀+\.\.\.$/u)) },
  ]);
  for (const span of [several, one]) expect(span).toMatchObject({ "llm.capture.truncated": true });
});

it("an expression selects the calls, and content the direction", async () => {
  const collector = await startCollector();
  const gateway = await startCapture(collector, {
    sampling: 'request.headers["x-capture"] == "yes" && response.code == 200',
    content: ["output"],
  });
  const body = { model: "m", messages: [{ role: "user", content: "?" }] };
  await post(gateway, body);
  await post(gateway, body, { "x-capture": "yes" });
  const [first, second] = await attributesOfRequests(gateway, collector);
  expect(first).not.toHaveProperty(["gen_ai.output.messages"]);
  expect(second).toHaveProperty(["gen_ai.output.messages"]);
  expect(second).not.toHaveProperty(["gen_ai.input.messages"]);
});

it("an error of a provider has no messages of its own", async () => {
  const collector = await startCollector();
  const gateway = await startCapture(
    collector,
    {},
    {
      respond: (response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end('{"error":{"message":"no","type":"invalid_request_error"}}');
      },
    },
  );
  await post(gateway, { model: "m", messages: [{ role: "user", content: "?" }] });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(request).toHaveProperty(["gen_ai.input.messages"]);
  expect(request).not.toHaveProperty(["gen_ai.output.messages"]);
  expect(request).not.toHaveProperty(["llm.capture.truncated"]);
});

it("arguments of tools that are nested too deeply are exported as they were sent", async () => {
  const collector = await startCollector();
  const depth = 50_000;
  const nested = "[".repeat(depth) + "]".repeat(depth);
  const gateway = await startCapture(
    collector,
    { maxBytes: 262_144 },
    {
      respond: (response) => {
        const call = { id: "c", type: "function", function: { name: "f", arguments: nested } };
        const message = { role: "assistant", content: null, tool_calls: [call] };
        const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ id: "1", object: "chat.completion", model: "m", choices }));
      },
    },
  );
  await post(gateway, { model: "m", messages: [{ role: "user", content: "?" }] });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(messages(request, "gen_ai.output.messages")).toMatchObject([
    { parts: [{ type: "tool_call", arguments: nested }] },
  ]);
});

it("of a request that no other format can express, the texts are exported", async () => {
  const collector = await startCollector();
  const gateway = await startCapture(collector, {});
  const messages = [{ role: "user", content: "words" }];
  await post(gateway, { model: "m", messages, logit_bias: { 5: 1 }, modalities: ["text"] });
  const [request] = await attributesOfRequests(gateway, collector);
  expect(request?.["gen_ai.input.messages"]).toBe(
    JSON.stringify([{ role: "user", parts: text("words") }]),
  );
});

it("events have the messages and the model of a call, in batches that servers accept", async () => {
  const collector = await startGrpcCollector();
  const upstream = await startScripted(byScript);
  const gateway = await startGateway({
    file: {
      frontendPolicies: {
        accessLog: {
          filter: "false",
          otlp: { host: collector.host, capture: { maxBytes: 262_144 } },
        },
      },
    },
    listeners: [
      {
        name: "http",
        routes: [
          {
            name: "chat",
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: upstream.host } }],
          },
        ],
      },
    ],
  });
  const content = "x".repeat(250_000);
  const count = 24;
  for (let i = 0; i < count; i++)
    await post(gateway, { model: "gpt-5", messages: [{ role: "user", content }] });
  expect(await gateway.stop()).toBe(0);
  const events = collector.requests
    .filter(({ path }) => path === "/v1/logs")
    .flatMap(({ request }) => items(request, "resourceLogs"))
    .flatMap((each) => items(each, "scopeLogs"))
    .flatMap((scope) => items(scope, "logRecords"));
  expect(events).toHaveLength(count);
  const [event = {}] = events;
  expect(event).toMatchObject({ eventName: "gen_ai.client.inference.operation.details" });
  expect(attributesOf(event)).toMatchObject({
    route: "chat",
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: text(content) }]),
  });
});

function openai({ url }: Gateway): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${url}/v1`, maxRetries: 0 });
}

/** Sends a request for a completion and reads the response. */
async function post(gateway: Gateway, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
}
