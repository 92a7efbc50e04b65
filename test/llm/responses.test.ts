import type OpenAI from "openai";
import { expect, it } from "vitest";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { openai, providers, startClient, startResponses } from "./responses-gateway.ts";

const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    strict: null,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
];

it.each(providers)("OpenAI's client creates responses with %s", async (provider) => {
  const client = await startClient(provider);
  const whole = await client.responses.create({ model: "m", input: "Hello" });
  expect(whole).toMatchObject({ object: "response", status: "completed" });
  expect(whole.output_text).toBe("Hi there.");
  const stream = client.responses.stream({ model: "m", input: "Hello" });
  const streamed = await stream.finalResponse();
  expect(streamed).toMatchObject({ status: "completed", output_text: "Hi there." });
});

it.each(providers)("calls of tools arrive from %s, whole and streamed", async (provider) => {
  const client = await startClient(provider);
  const calls = [
    { type: "function_call", name: "get_weather", arguments: '{"city":"Paris"}' },
    { type: "function_call", name: "get_weather", arguments: '{"city":"Rome"}' },
  ];
  const request = { model: "m", input: "How is the weather?", tools };
  expect((await client.responses.create(request)).output).toMatchObject(calls);
  const stream = client.responses.stream(request);
  expect((await stream.finalResponse()).output).toMatchObject(calls);
});

/** Describes the mistakes in the events of a stream: gaps in the numbers, items and parts out of order. */
function disorder(events: readonly OpenAI.Responses.ResponseStreamEvent[]): readonly string[] {
  const found: string[] = [];
  const open = new Map<number, string>();
  let items = 0;
  events.forEach((event, number) => {
    if (event.sequence_number !== number) found.push(`${event.type} has another number`);
    if (event.type === "response.output_item.added") {
      if (event.output_index !== items) found.push(`an item at ${event.output_index}`);
      open.set(event.output_index, event.item.id ?? "");
      items += 1;
    } else if (event.type === "response.output_item.done") {
      if (open.get(event.output_index) !== event.item.id) found.push("another item is done");
      open.delete(event.output_index);
    } else if ("item_id" in event && open.get(event.output_index) !== event.item_id) {
      found.push(`${event.type} of an item that is not open`);
    }
  });
  return [...found, ...[...open.values()].map((id) => `${id} is not done`)];
}

/** A stream of Anthropic's: thoughts, words, and two calls. */
const thinking = [
  ["message_start", { message: { id: "msg_1", model: "claude-real", usage: { input_tokens: 9 } } }],
  ["content_block_start", { index: 0, content_block: { type: "thinking", thinking: "" } }],
  ["content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "Paris, " } }],
  ["content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "and Rome." } }],
  ["content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "signed" } }],
  ["content_block_stop", { index: 0 }],
  ["content_block_start", { index: 1, content_block: { type: "redacted_thinking", data: "dark" } }],
  ["content_block_stop", { index: 1 }],
  ["content_block_start", { index: 2, content_block: { type: "text", text: "" } }],
  ["content_block_delta", { index: 2, delta: { type: "text_delta", text: "One moment." } }],
  ["content_block_stop", { index: 2 }],
  ["content_block_start", { index: 3, content_block: { type: "tool_use", id: "t1", name: "f" } }],
  ["content_block_delta", { index: 3, delta: { type: "input_json_delta", partial_json: '{"a":' } }],
  ["content_block_delta", { index: 3, delta: { type: "input_json_delta", partial_json: "1}" } }],
  ["content_block_stop", { index: 3 }],
  ["content_block_start", { index: 4, content_block: { type: "tool_use", id: "t2", name: "g" } }],
  ["content_block_stop", { index: 4 }],
  ["message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } }],
  ["message_stop", {}],
] as const;

function events(list: readonly (readonly [string, object])[]): string {
  return list
    .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    .join("");
}

it("a stream has numbered events in order, and the whole response in the last one", async () => {
  const { host } = await startScripted((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events(thinking));
  });
  const client = openai(await startResponses("anthropic", host));
  const request = { model: "m", input: "Think", metadata: { a: "b" } };
  const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
  const stream = await client.responses.create({ ...request, stream: true });
  for await (const event of stream) seen.push(event);
  expect(disorder(seen)).toEqual([]);
  const last = seen.at(-1);
  if (last?.type !== "response.completed") throw new Error(`${last?.type} is the last event`);
  expect(last.response).toMatchObject({
    id: "msg_1",
    model: "claude-real",
    status: "completed",
    store: false,
    metadata: { a: "b" },
    usage: { input_tokens: 9, output_tokens: 7, total_tokens: 16 },
    output: [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Paris, and Rome." }] },
      { type: "reasoning", summary: [] },
      { type: "message", content: [{ type: "output_text", text: "One moment." }] },
      { type: "function_call", call_id: "t1", name: "f", arguments: '{"a":1}' },
      { type: "function_call", call_id: "t2", name: "g", arguments: "{}" },
    ],
  });
  // The client puts the same response together from the pieces.
  const { output } = await client.responses.stream(request).finalResponse();
  const types = ["reasoning", "reasoning", "message", "function_call", "function_call"];
  expect(output.map(({ type }) => type)).toEqual(types);
});

it("what the model thought comes back to its provider as it was", async () => {
  const provider = await startScripted((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events(thinking));
  });
  const client = openai(await startResponses("anthropic", provider.host));
  const { output } = await client.responses.stream({ model: "m", input: "Think" }).finalResponse();
  const results = ["t1", "t2"].map((id) => {
    return { type: "function_call_output" as const, call_id: id, output: `result of ${id}` };
  });
  const foreign = {
    type: "reasoning" as const,
    id: "rs_0",
    summary: [],
    encrypted_content: "gAAA",
  };
  const history: OpenAI.Responses.ResponseInput = JSON.parse(JSON.stringify(output));
  const next = client.responses.stream({
    model: "m",
    instructions: "Be brief.",
    input: [{ role: "user", content: "Think" }, foreign, ...history, ...results],
  });
  await next.finalResponse();
  expect(JSON.parse(provider.received[1]?.body.toString() ?? "")).toMatchObject({
    system: "Be brief.",
    messages: [
      { role: "user", content: [{ type: "text", text: "Think" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Paris, and Rome.", signature: "signed" },
          { type: "redacted_thinking", data: "dark" },
          { type: "text", text: "One moment." },
          { type: "tool_use", id: "t1", name: "f", input: { a: 1 } },
          { type: "tool_use", id: "t2", name: "g", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1" },
          { type: "tool_result", tool_use_id: "t2" },
        ],
      },
    ],
  });
});

it.each([
  ["previous_response_id", { previous_response_id: "resp_1" }],
  ["conversation", { conversation: "conv_1" }],
  ["background", { background: true }],
  ["prompt", { prompt: { id: "p" } }],
  ["truncation", { truncation: "auto" }],
  ["include[0]", { include: ["message.output_text.logprobs"] }],
  [
    "input[1]",
    {
      input: [
        { role: "user", content: "Hi" },
        { type: "item_reference", id: "m" },
      ],
    },
  ],
  [
    "input[0].approval_request_id",
    { input: [{ type: "mcp_approval_response", approval_request_id: "w", approve: true }] },
  ],
  [
    "input[0].content[0].file_id",
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
  ],
  // A tool that Codex sends.
  ["tools[1].type", { tools: [...tools, { type: "mcp", server_label: "n" }] }],
  ["tools[0].type", { tools: [{ type: "image_generation" }] }],
  ["text.format.type", { text: { format: { type: "grammar" } } }],
  ["input", { input: 7 }],
])(
  "a request that only OpenAI can serve is refused with the name of its field: %s",
  async (field, part) => {
    const gateway = await startResponses("anthropic", "127.0.0.1:9");
    const body = JSON.stringify({ model: "m", input: "Hello", ...part });
    const json = { "content-type": "application/json" };
    const response = await send(`${gateway.url}/v1/responses`, "POST", json, body);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({
      error: { type: "invalid_request_error", param: field },
    });
  },
);

it("the further members that Codex sends are served by a provider of another format", async () => {
  const provider = await startScripted((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events(thinking));
  });
  const gateway = await startResponses("anthropic", provider.host);
  const request = {
    model: "m",
    instructions: "You are a coding agent.",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Rules." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
    ],
    tools,
    tool_choice: "auto",
    parallel_tool_calls: false,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "session",
    text: { verbosity: "low" },
    client_metadata: { "x-codex-installation-id": "1" },
  };
  const json = { "content-type": "application/json" };
  const { status, body } = await send(
    `${gateway.url}/v1/responses`,
    "POST",
    json,
    JSON.stringify(request),
  );
  expect(status).toBe(200);
  for (const event of ["response.created", "response.output_item.done", "response.completed"]) {
    expect(body).toContain(`event: ${event}\n`);
  }
  expect(JSON.parse(provider.received[0]?.body.toString() ?? "")).toMatchObject({
    system: [{ text: "You are a coding agent." }, { text: "Rules." }],
    tools: [{ name: "get_weather" }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 2048 },
  });
});

it.each(providers)(
  "a stream that fails after it began is an error for the client (%s)",
  async (provider) => {
    const started =
      provider === "anthropic"
        ? events(thinking.slice(0, 3))
        : events([
            ["response.created", { response: { id: "resp_1", model: "gpt-real" } }],
            ["response.output_text.delta", { delta: "Hi", item_id: "m", output_index: 0 }],
          ]);
    const { host } = await startScripted((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(started, () => response.destroy());
    });
    const gateway = await startResponses(provider, host);
    const request = { model: "m", input: "Hello", stream: true } as const;
    const stream = await openai(gateway).responses.create(request);
    const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
    const read = async () => {
      for await (const event of stream) seen.push(event);
    };
    await expect(read()).rejects.toThrow("the provider closed the connection");
    const json = { "content-type": "application/json" };
    const { body } = await send(
      `${gateway.url}/v1/responses`,
      "POST",
      json,
      JSON.stringify(request),
    );
    const data = body
      .split("\n")
      .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    const numbered = data.slice(-2).map(({ type, sequence_number: at }) => [type, at]);
    expect(numbered).toEqual([
      ["error", data.length - 2],
      ["response.failed", data.length - 1],
    ]);
    expect(data.at(-1).response).toMatchObject({
      status: "failed",
      error: { code: "server_error" },
    });
  },
);

it.each([
  [
    "response.failed",
    { response: { id: "r", error: { code: "server_error", message: "broken" } } },
  ],
  ["error", { code: "rate_limit_exceeded", message: "broken", param: null }],
  ["error", { error: { code: "rate_limit_exceeded", message: "broken" } }],
])("%s before the first content is an error response", async (type, data) => {
  const { host } = await startScripted((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      events([
        ["response.created", { response: { id: "r" } }],
        [type, data],
      ]),
    );
  });
  const client = openai(await startResponses("openai", host));
  const call = client.responses.create({ model: "m", input: "Hello", stream: true });
  await expect(call).rejects.toThrow("broken");
});

it("responses that the provider keeps are asked for, cancelled and deleted there", async () => {
  const provider = await startScripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "resp_1", object: "response", output: [], data: [] }));
  });
  const gateway = await startResponses("openai", provider.host);
  const { responses } = openai(gateway);
  await responses.retrieve("resp_1", { include: ["reasoning.encrypted_content"] });
  await responses.cancel("resp_1");
  await responses.inputItems.list("resp_1", { limit: 5 });
  await responses.delete("resp_1");
  await responses.inputTokens.count({ model: "m", input: "Hello" });
  expect(provider.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "GET /v1/responses/resp_1?include%5B%5D=reasoning.encrypted_content",
    "POST /v1/responses/resp_1/cancel",
    "GET /v1/responses/resp_1/input_items?limit=5",
    "DELETE /v1/responses/resp_1",
    "POST /v1/responses/input_tokens",
  ]);
  for (const { headers } of provider.received) {
    expect(headers.authorization).toBe("Bearer provider-key");
  }
});

it("a provider of another format keeps no responses", async () => {
  const gateway = await startResponses("anthropic", "127.0.0.1:9");
  const call = openai(gateway).responses.retrieve("resp_1");
  await expect(call).rejects.toMatchObject({ status: 404, type: "invalid_request_error" });
});
