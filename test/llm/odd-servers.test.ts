import { expect, it } from "vitest";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { responsesUpstream } from "../../runtime/llm/formats/responses/upstream.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

const JSON_TYPE = { "content-type": "application/json" };
const TOOLS = [{ name: "look", input_schema: { type: "object", properties: {} } }];

/** Answers of a server of chat completions, as a client of the Messages API receives them. */
async function answered(message: object, deltas: readonly object[]): Promise<readonly unknown[]> {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = await startScripted((response, _, { body }) => {
    if (!body.includes('"stream":true')) {
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ id: "c", model: "m", choices }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `${deltas.map((each) => chunk(each)).join("")}${chunk({}, "stop")}data: [DONE]\n\n`,
    );
  });
  const ai = { provider: { openAI: {} }, hostOverride: server.host };
  const routes = { "/v1/messages": "messages" };
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ ai, policies: { ai: { routes } } }] }] }],
  });
  const ask = (stream: boolean) => {
    const messages = [{ role: "user", content: "Hello" }];
    const request = { model: "m", max_tokens: 99, stream, messages, tools: TOOLS };
    return send(`${gateway.url}/v1/messages`, "POST", JSON_TYPE, JSON.stringify(request));
  };
  const whole = await ask(false);
  const streamed = await ask(true);
  return [
    whole.status === 200 ? JSON.parse(whole.body).content : whole.status,
    streamed.status === 200 ? blocksOf(streamed.body) : streamed.status,
  ];
}

/** Returns the content blocks of a stream, or "failed". */
function blocksOf(stream: string): readonly object[] | "failed" {
  const blocks: Record<string, string>[] = [];
  for (const [, data = ""] of stream.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data);
    if (event.type === "error") return "failed";
    if (event.type === "content_block_start") blocks.push({ ...event.content_block });
    if (event.type !== "content_block_delta") continue;
    const block = blocks[event.index] ?? {};
    for (const field of ["text", "thinking", "partial_json"]) {
      const piece = event.delta[field];
      if (piece !== undefined) block[field] = (block[field] ?? "") + piece;
    }
  }
  return blocks;
}

it("content in parts, with reasoning, is read", async () => {
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "Good day" },
  ];
  const [whole, streamed] = await answered(
    { role: "assistant", content },
    content.map((part) => ({ content: [part] })),
  );
  const blocks = [
    expect.objectContaining({ type: "thinking", thinking: "Hm." }),
    expect.objectContaining({ type: "text", text: "Good day" }),
  ];
  expect(whole).toEqual(blocks);
  expect(streamed).toEqual(blocks);
});

it("content in a form that is not known is an error, not an empty answer", async () => {
  const content = [{ type: "hologram", data: "x" }];
  expect(await answered({ role: "assistant", content }, [{ content }])).toEqual([502, 502]);
});

const CALLED = [expect.objectContaining({ type: "tool_use", name: "look" })];

it("arguments that are an object are the arguments of the tool", async () => {
  const calls = [{ index: 0, id: "a", function: { name: "look", arguments: { at: "it" } } }];
  const [whole, streamed] = await answered(
    { role: "assistant", content: null, tool_calls: calls },
    [{ tool_calls: calls }],
  );
  expect(whole).toEqual([expect.objectContaining({ name: "look", input: { at: "it" } })]);
  expect(streamed).toEqual([expect.objectContaining({ partial_json: '{"at":"it"}' })]);
});

it("arguments that are neither a string nor an object are an error", async () => {
  const calls = [{ index: 0, id: "a", function: { name: "look", arguments: 7 } }];
  expect(
    await answered({ role: "assistant", content: null, tool_calls: calls }, [
      { tool_calls: calls },
    ]),
  ).toEqual([502, "failed"]);
});

it("a function call of the first version is a tool call", async () => {
  const called = { name: "look", arguments: "{}" };
  const [whole, streamed] = await answered(
    { role: "assistant", content: null, function_call: called },
    [{ function_call: { name: "look", arguments: "" } }, { function_call: { arguments: "{}" } }],
  );
  expect(whole).toEqual(CALLED);
  expect(streamed).toEqual(CALLED);
});

it("parallel calls that all have the index 0 are calls of their own", async () => {
  const call = (id: string, name: string | undefined, text: string) => ({
    tool_calls: [{ index: 0, id, function: { ...(name && { name }), arguments: text } }],
  });
  const [, streamed] = await answered({ role: "assistant", content: "" }, [
    call("a", "look", '{"at":'),
    call("a", undefined, '"one"}'),
    call("b", "look", '{"at":"two"}'),
    call("a", undefined, ""),
  ]);
  expect(streamed).toEqual([
    expect.objectContaining({ id: "a", partial_json: '{"at":"one"}' }),
    expect.objectContaining({ id: "b", partial_json: '{"at":"two"}' }),
  ]);
});

it("images and sound that the client's format lacks are an error, not an empty answer", async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const media = [{ images: [image] }, { audio: { id: "a", data: "AAAA", transcript: "Hi" } }];
  for (const each of media) {
    const [whole, streamed] = await answered({ role: "assistant", content: null, ...each }, [each]);
    expect([whole, streamed]).toEqual([502, 502]);
  }
});

it("arguments that are encoded twice are the arguments of the tool", async () => {
  const text = JSON.stringify(JSON.stringify({ at: "it" }));
  const calls = [{ id: "a", function: { name: "look", arguments: text } }];
  const [whole] = await answered({ role: "assistant", content: null, tool_calls: calls }, []);
  expect(whole).toEqual([expect.objectContaining({ name: "look", input: { at: "it" } })]);
});

const unknown = [
  ["Anthropic", messagesUpstream, { content: [{ type: "container_upload", file_id: "f" }] }],
  [
    "Bedrock",
    converseUpstream,
    { output: { message: { content: [{ image: { format: "png" } }] } } },
  ],
  [
    "Gemini",
    generateContentUpstream,
    { candidates: [{ content: { parts: [{ inlineData: { data: "AAAA" } }] } }] },
  ],
  ["OpenAI", responsesUpstream, { output: [{ type: "image_generation_call", result: "AAAA" }] }],
] as const;

it.each(unknown)("content of %s that no other format has is an error", (_, format, body) => {
  expect(() => format.readResponse(body)).toThrow("the response has");
});

it("pieces of content that no other format has are an error", () => {
  const event = (data: object) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
  const image = { content: { parts: [{ inlineData: { data: "AAAA" } }] } };
  const upload = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "container_upload" },
  };
  const streams = [
    generateContentUpstream.openStream(1e6).push(event({ candidates: [image] })),
    messagesUpstream.openStream(1e6).push(event(upload)),
  ];
  for (const events of streams) expect(events.at(-1)).toMatchObject({ kind: "error" });
});

it("a stream of chat completions without chunks is an error", () => {
  const [event] = completionsUpstream.openStream(1e6).push(Buffer.from("data: [DONE]\n\n"));
  expect(event).toMatchObject({ kind: "error" });
});

it("text that Bedrock cites is text", () => {
  const citationsContent = { content: [{ text: "Hi" }], citations: [] };
  const body = { output: { message: { content: [{ citationsContent }] } }, stopReason: "end_turn" };
  expect(converseUpstream.readResponse(body).blocks).toEqual([{ kind: "text", text: "Hi" }]);
});
