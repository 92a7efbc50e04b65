import OpenAI from "openai";
import { request } from "undici";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Keywords that Anthropic refuses with 400 in schemas that it enforces. */
const REFUSED = /"(?:minimum|maximum|maxItems|minLength|maxLength|oneOf|uniqueItems)":/;

interface Asked {
  readonly status: number;
  readonly warning: unknown;
  readonly sent: Record<string, never>;
  readonly body: string;
}

/** Sends a request of a client to a provider that completes it with a text. */
async function asked(
  provider: "anthropic" | "openAI" | "gemini",
  path: "/v1/chat/completions" | "/v1/messages",
  text: string,
  more: object,
  options: object = {},
): Promise<Asked> {
  const server = await startScripted((response, _, { url, body }) => {
    const request = JSON.parse(body.toString());
    const { format } = request.output_config ?? {};
    const isOpen =
      JSON.stringify(format ?? {}).includes('"type":"object"') &&
      format.schema.additionalProperties !== false;
    if (provider === "anthropic" && (REFUSED.test(JSON.stringify(format ?? {})) || isOpen)) {
      const error = { type: "invalid_request_error", message: "unsupported schema" };
      response.writeHead(400, JSON_TYPE).end(JSON.stringify({ type: "error", error }));
      return;
    }
    const message = { role: "assistant", content: text };
    const completion = {
      id: "c",
      model: "m",
      choices: [{ index: 0, message, finish_reason: "stop" }],
    };
    const anthropic = {
      ...{ id: "m", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
      ...{ content: [{ type: "text", text }], usage: { input_tokens: 1, output_tokens: 1 } },
    };
    const output = [{ ...{ type: "message", role: "assistant" }, content: [{ text }] }];
    const answers = {
      anthropic,
      gemini: {
        candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
      },
      openAI: url.endsWith("/responses") ? { status: "completed", output } : completion,
    };
    const answer = answers[provider];
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer));
  });
  const ai = { provider: { [provider]: options }, hostOverride: server.host };
  const routes = { "/v1/chat/completions": "completions", "/v1/messages": "messages" };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes } } }] }] }],
  });
  const messages = [{ role: "user", content: "Hello" }];
  const request = JSON.stringify({ model: "m", max_tokens: 99, messages, ...more });
  const { status, headers, body } = await send(`${gateway.url}${path}`, "POST", JSON_TYPE, request);
  const sent = JSON.parse(server.received[0]?.body.toString() ?? "{}");
  return { status, warning: headers["x-llm-warning"], sent, body };
}

const SCHEMA = {
  type: "object",
  properties: {
    count: { type: "integer", minimum: 3, description: "How many." },
    names: { type: "array", maxItems: 2, items: { type: "string" } },
    kind: { oneOf: [{ const: "a" }, { const: "b" }] },
  },
  required: ["count"],
};
const OUTPUT = { type: "json_schema", json_schema: { name: "out", schema: SCHEMA } };

it("a schema for Claude is closed, and keywords that it lacks are in descriptions", async () => {
  const text = '{"count":4}';
  const { status, warning, sent } = await asked("anthropic", "/v1/chat/completions", text, {
    response_format: OUTPUT,
  });
  expect(status).toBe(200);
  expect(warning).toBeUndefined();
  expect(sent).toMatchObject({
    output_config: {
      format: {
        schema: {
          additionalProperties: false,
          properties: {
            count: { type: "integer", description: "How many.\n{minimum: 3}" },
            names: { type: "array", items: { type: "string" }, description: "{maxItems: 2}" },
            kind: { anyOf: [{ const: "a" }, { const: "b" }] },
          },
        },
      },
    },
  });
});

it.each([
  ['{"count":1}', "the output breaks its schema: count: minimum 3"],
  ['{"count":3,"names":["a","b","c"]}', "the output breaks its schema: names: maxItems 2"],
  ["no", "the output is not JSON"],
])(
  "an output that breaks a keyword that is not enforced has a warning: %s",
  async (text, expected) => {
    const { status, warning } = await asked("anthropic", "/v1/chat/completions", text, {
      response_format: OUTPUT,
    });
    expect({ status, warning }).toEqual({ status: 200, warning: expected });
  },
);

it("a schema that Claude cannot enforce is refused, with its field", async () => {
  const recursive = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  const map = { type: "object", properties: {}, additionalProperties: { type: "string" } };
  for (const schema of [recursive, map]) {
    const { status, body } = await asked("anthropic", "/v1/chat/completions", "{}", {
      response_format: { type: "json_schema", json_schema: { name: "out", schema } },
    });
    expect(status).toBe(400);
    expect(JSON.parse(body).error.param).toMatch(/^response_format/);
  }
});

it("a strict tool for Claude is converted, and offered without enforcement if it cannot be", async () => {
  const tool = (name: string, parameters: object) => ({
    type: "function",
    function: { name, parameters, strict: true },
  });
  const map = { type: "object", properties: {}, additionalProperties: { type: "string" } };
  const { sent } = await asked("anthropic", "/v1/chat/completions", "Hi", {
    tools: [tool("one", SCHEMA), tool("two", map)],
  });
  expect(sent).toMatchObject({
    tools: [
      { name: "one", strict: true, input_schema: { additionalProperties: false } },
      { name: "two" },
    ],
  });
  expect(sent).not.toHaveProperty("tools.1.strict");
});

it("a schema for OpenAI is strict only if its subset has it", async () => {
  const format = (schema: object) => ({
    output_config: { format: { type: "json_schema", schema } },
  });
  const required = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const strict = await asked("openAI", "/v1/messages", '{"a":"b"}', format(required));
  expect(strict.sent).toMatchObject({
    response_format: {
      json_schema: { strict: true, schema: { ...required, additionalProperties: false } },
    },
  });
  const loose = await asked("openAI", "/v1/messages", '{"count":1}', format(SCHEMA));
  expect(loose.sent).toMatchObject({
    response_format: { json_schema: { strict: false, schema: SCHEMA } },
  });
  expect(loose.warning).toBe("the output breaks its schema: count: minimum 3");
});

it("a schema for OpenAI's Responses API is strict only if its subset has it", async () => {
  const tool = (name: string, input_schema: object) => ({ name, input_schema, strict: true });
  const required = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const { sent, warning } = await asked(
    "openAI",
    "/v1/messages",
    '{"count":1}',
    {
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
      tools: [tool("one", required), tool("two", SCHEMA)],
    },
    { api: "responses" },
  );
  expect(sent).toMatchObject({
    text: { format: { schema: SCHEMA, strict: false } },
    tools: [
      { name: "one", strict: true, parameters: { ...required, additionalProperties: false } },
      { name: "two", strict: false, parameters: SCHEMA },
    ],
  });
  expect(warning).toBe("the output breaks its schema: count: minimum 3");
});

it("keywords that Google lacks are in descriptions, and the output is checked", async () => {
  const schema = {
    type: "object",
    properties: {
      price: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5, description: "In euros." },
      tags: { type: "array", items: { type: "string" }, uniqueItems: true },
      level: { type: "integer", exclusiveMinimum: 2 },
      scores: { type: "object", additionalProperties: { type: "number" } },
    },
    required: ["price"],
  };
  const more = { output_config: { format: { type: "json_schema", schema } } };
  const ask = (text: string) =>
    asked("gemini", "/v1/messages", text, more, { model: "gemini-2.5-pro" });
  const { sent, warning } = await ask('{"price":1.5,"tags":["a","a"]}');
  expect(sent).toMatchObject({
    generationConfig: {
      responseSchema: {
        properties: {
          price: { description: "In euros.\n{exclusiveMinimum: 0, multipleOf: 0.5}" },
          tags: { description: "{uniqueItems: true}" },
          level: { type: "INTEGER", minimum: 3 },
          scores: { description: '{additionalProperties: {"type":"number"}}' },
        },
      },
    },
  });
  expect(sent).not.toHaveProperty("generationConfig.responseSchema.properties.level.description");
  expect(warning).toBe("the output breaks its schema: tags: uniqueItems true");
  expect((await ask('{"price":1.5}')).warning).toBeUndefined();
});

const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Events of a message of Claude that stops for a reason. */
function messageEvents(content: readonly object[], stop_reason: string): readonly object[] {
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [] };
  return [
    { type: "message_start", message: { ...message, usage: USAGE } },
    ...content,
    { type: "message_delta", delta: { stop_reason }, usage: USAGE },
    { type: "message_stop" },
  ];
}

/** Events of a block whose delta arrives in pieces of three characters. */
function blockEvents(
  index: number,
  content_block: object,
  text: string,
  delta: (part: string) => object,
): readonly object[] {
  const parts = text.match(/.{1,3}/g) ?? [];
  return [
    { type: "content_block_start", index, content_block },
    ...parts.map((part) => ({ type: "content_block_delta", index, delta: delta(part) })),
    { type: "content_block_stop", index },
  ];
}

function textEvents(text: string): readonly object[] {
  const delta = (part: string) => ({ type: "text_delta", text: part });
  return blockEvents(0, { type: "text", text: "" }, text, delta);
}

function callEvents(name: string, input: string): readonly object[] {
  const delta = (part: string) => ({ type: "input_json_delta", partial_json: part });
  return blockEvents(0, { type: "tool_use", id: "t", name, input: {} }, input, delta);
}

/** Starts a gateway to a Claude that streams events. */
async function startStreaming(events: readonly object[]): Promise<Gateway> {
  const server = await startScripted((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const ai = { provider: { anthropic: {} }, hostOverride: server.host };
  return startGateway({ listeners: [{ routes: [{ backends: [{ ai }] }] }] });
}

const MESSAGES = [{ role: "user" as const, content: "Hello" }];
const STRICT = { type: "function", function: { name: "f", parameters: SCHEMA, strict: true } };

it.each([
  [textEvents('{"count":1}'), "end_turn", "the output breaks its schema: count: minimum 3"],
  [textEvents("no"), "end_turn", "the output is not JSON"],
  [
    callEvents("f", '{"count":4,"other":1,"names":["a","b","c"]}'),
    "tool_use",
    'the input of tool "f" breaks its schema: names: maxItems 2',
  ],
  [textEvents('{"count":4}'), "end_turn", undefined],
  [callEvents("f", '{"count":4}'), "tool_use", undefined],
  [callEvents("g", '{"count":1}'), "tool_use", undefined],
  // Incomplete ones are not checked.
  [textEvents('{"count":1'), "max_tokens", undefined],
])(
  "a stream that breaks a keyword has a warning at its end: case %#",
  async (content, stop, warning) => {
    const gateway = await startStreaming(messageEvents(content, stop));
    const fields = { model: "m", messages: MESSAGES, stream: true, tools: [STRICT] };
    const response = await request(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...JSON_TYPE, te: "trailers" },
      body: JSON.stringify({ ...fields, response_format: OUTPUT }),
    });
    const lines = (await response.body.text()).split("\n");
    expect(lines).toContain("data: [DONE]");
    const comment = lines.findIndex((line) => line.startsWith(": x-llm-warning"));
    if (warning === undefined) {
      expect({ comment, trailers: response.trailers }).toEqual({ comment: -1, trailers: {} });
      return;
    }
    expect(lines[comment]).toBe(`: x-llm-warning: ${warning}`);
    expect(comment).toBeLessThan(lines.indexOf("data: [DONE]"));
    expect(response.trailers).toEqual({ "x-llm-warning": warning });
    await expect.poll(() => gateway.output).toContain(`llm.warning=${JSON.stringify(warning)}`);
  },
);

it("OpenAI's SDK reads a stream with a warning", async () => {
  const gateway = await startStreaming(messageEvents(textEvents('{"count":1}'), "end_turn"));
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const json_schema = { name: "out", schema: SCHEMA };
  const stream = client.chat.completions.stream({
    ...{ model: "m", messages: MESSAGES },
    response_format: { type: "json_schema", json_schema },
  });
  expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('{"count":1}');
});

it("inputs of tools for Google are checked, as all keywords that it lacks move into descriptions", async () => {
  const call = { name: "f", args: { price: 1.3 } };
  const server = await startScripted((response) => {
    const content = { role: "model", parts: [{ functionCall: call }] };
    const candidates = [{ content, finishReason: "STOP" }];
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ candidates }));
  });
  const ai = { provider: { gemini: {} }, hostOverride: server.host };
  const routes = { "/v1/messages": "messages" };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes } } }] }] }],
  });
  const price = { type: "number", multipleOf: 0.5 };
  const input_schema = { type: "object", properties: { price } };
  const fields = { model: "gemini-2.5-pro", max_tokens: 9, messages: MESSAGES };
  const body = JSON.stringify({ ...fields, tools: [{ name: "f", input_schema }] });
  const { headers } = await send(`${gateway.url}/v1/messages`, "POST", JSON_TYPE, body);
  expect(headers["x-llm-warning"]).toBe(
    'the input of tool "f" breaks its schema: price: multipleOf 0.5',
  );
});

it("a warning does not show what the model called its members", async () => {
  const { warning } = await asked("anthropic", "/v1/chat/completions", '{"count":3,"secret":1}', {
    response_format: {
      type: "json_schema",
      json_schema: { name: "out", schema: { ...SCHEMA, additionalProperties: false } },
    },
  });
  expect(warning).toBe("the output breaks its schema: *: additionalProperties false");
});
