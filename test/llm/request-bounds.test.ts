import { expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { generateContentClient } from "../../runtime/llm/formats/generate-content/client.ts";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { everyFormat, startAiGateway } from "../harness/ai-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { sentFor } from "./sent-for.ts";

const hello = { role: "user", content: "Hello" };
const thinking = { type: "thinking", thinking: "Hm.", signature: "" };
const called = { type: "tool_use", id: `toolu_${"x".repeat(50)}`, name: "look", input: {} };
const history = {
  ...{ model: "m", max_tokens: 99 },
  messages: [
    hello,
    { role: "assistant", content: [thinking, called] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: called.id, content: "1" }] },
  ],
};

/** Returns the messages of chat completions for a client of Anthropic. */
function messagesFor(body: JsonObject): readonly JsonObject[] {
  return Object(sentFor(messagesClient, completionsUpstream, body)).messages;
}

it("ids of calls have at most 40 characters in chat completions", () => {
  const [, call, result] = messagesFor(history);
  const [{ id }] = Object(call).tool_calls;
  expect(id.length).toBeLessThanOrEqual(40);
  expect(result).toMatchObject({ role: "tool", tool_call_id: id });
});

it.each([
  ["deepseek-v4-pro", "Hm."],
  ["moonshotai/kimi-k2-thinking", "Hm."],
  ["gpt-5", undefined],
])("reasoning of the history is sent to %s as %s", (model, expected) => {
  const [, call] = messagesFor({ ...history, model });
  expect(Object(call).reasoning_content).toBe(expected);
});

it("DeepSeek gets reasoning next to calls of another model, too", () => {
  const messages = [hello, { role: "assistant", content: [called] }, history.messages[2]];
  const [, call] = messagesFor({ ...history, model: "deepseek-v4-pro", messages });
  expect(call).toMatchObject({ reasoning_content: "" });
});

it("a seed has 32 bits at Google", () => {
  const body = { model: "gemini-3-pro", messages: [hello], seed: 2 ** 40 + 7 };
  expect(sentFor(completionsClient, generateContentUpstream, body)).toMatchObject({
    generationConfig: { seed: 7 },
  });
});

it("reasoning and top_k are read in the fields of other servers' clients", () => {
  const sent = (body: object) =>
    sentFor(completionsClient, messagesUpstream, { model: "claude-1", messages: [hello], ...body });
  const budget = { thinking: { type: "enabled", budget_tokens: 2000 } };
  expect(sent(budget)).toMatchObject(budget);
  expect(sent({ reasoning: { max_tokens: 2000, exclude: false } })).toMatchObject(budget);
  expect(sent({ reasoning: { enabled: false } })).not.toHaveProperty("thinking");
  expect(sent({ top_k: 5 })).toMatchObject({ top_k: 5 });
});

it("a file is base64 alone, too, and its name tells its type", () => {
  const file = (file_data: string, filename?: string) => {
    const content = [{ type: "file", file: { filename, file_data } }];
    const body = { model: "claude-1", messages: [{ role: "user", content }] };
    return sentFor(completionsClient, messagesUpstream, body);
  };
  const document = (source: object) => ({ messages: [{ content: [{ source }] }] });
  expect(file("JVBERi0=")).toMatchObject(
    document({ type: "base64", media_type: "application/pdf", data: "JVBERi0=" }),
  );
  expect(file(Buffer.from("a,b").toString("base64"), "a.csv")).toMatchObject(
    document({ type: "text", media_type: "text/plain", data: "a,b" }),
  );
  // Anthropic takes PDF and text only.
  expect(file("UEsDBA==", "a.docx")).toBeUndefined();
});

const many = ["a", "b", "c", "d", "e", "f"];
const refusals = [
  ["/v1/messages", { max_tokens: 9, messages: [hello], stop_sequences: many }, "stop_sequences"],
  ["/v1/messages", { max_tokens: 9, messages: [{ ...hello, content: "" }] }, "messages"],
  ["/v1/responses", { input: [] }, "input"],
  [
    "/v1beta/models/m:generateContent",
    { contents: [{ parts: [{ inlineData: { mimeType: "video/mp4", data: "AAAA" } }] }] },
    "contents[0].parts[0].inlineData",
  ],
  [
    "/v1beta/models/m:generateContent",
    { contents: [{ parts: [{ file_data: { file_uri: "https://youtu.be/a" } }] }] },
    "contents[0].parts[0].file_data.file_uri",
  ],
] as const;

it.each(refusals)("%s refuses %j by name before the provider does", async (path, body, field) => {
  const upstream = await startScripted((response) => response.end("{}"));
  const provider = { openAI: { api: "completions" } };
  const { url } = await startAiGateway(upstream.host, everyFormat, { provider });
  const text = JSON.stringify(path.includes("/models/") ? body : { model: "m", ...body });
  const answer = await send(`${url}${path}`, "POST", { "content-type": "application/json" }, text);
  expect(answer.status).toBe(400);
  expect(answer.body).toContain(field);
  expect(upstream.received).toEqual([]);
});

it("members of Google's requests have two spellings", () => {
  const schema = { type: "OBJECT", properties: { a_b: { type: "STRING", max_length: "3" } } };
  const body = {
    model: "claude-1",
    system_instruction: { parts: [{ text: "Be brief." }] },
    contents: [{ parts: [{ text: "Hi" }, { inline_data: { mime_type: "image/png", data: "A" } }] }],
    tools: [{ function_declarations: [{ name: "look", parameters: schema }] }],
    tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["look"] } },
    generation_config: { max_output_tokens: 9, stop_sequences: ["x"] },
    safety_settings: [],
  };
  expect(sentFor(generateContentClient, messagesUpstream, body)).toMatchObject({
    system: "Be brief.",
    messages: [{ content: [{ text: "Hi" }, { source: { media_type: "image/png" } }] }],
    tools: [
      { input_schema: { type: "object", properties: { a_b: { type: "string", maxLength: 3 } } } },
    ],
    tool_choice: { type: "tool", name: "look" },
    ...{ max_tokens: 9, stop_sequences: ["x"] },
  });
});

it("the input of a tool is an object for every provider", () => {
  const refs = { $defs: { at: { type: "object", properties: { at: { type: "string" } } } } };
  const schemas = [
    {},
    { properties: { a: { type: "string" } } },
    {
      anyOf: [
        { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] },
        { type: "object", properties: { a: {}, c: {} }, required: ["a", "c"] },
      ],
    },
    { ...refs, $ref: "#/$defs/at" },
    { ...refs, allOf: [{ $ref: "#/$defs/at" }, { required: ["at"] }] },
  ];
  const tools = schemas.map((parameters, index) => ({
    type: "function",
    function: { name: `f${index}`, parameters },
  }));
  const sent = sentFor(completionsClient, messagesUpstream, {
    ...{ model: "claude-1", messages: [hello], tools },
  });
  const object = (properties: object, more: object = {}) => ({
    input_schema: expect.objectContaining({ type: "object", properties, ...more }),
  });
  expect(sent).toMatchObject({
    tools: [
      object({}),
      object({ a: { type: "string" } }),
      object(
        { a: {}, b: {}, c: {} },
        { required: ["a"], description: "Properties of one of: (a, b) or (a, c)" },
      ),
      object({ at: { type: "string" } }),
      object({ at: { type: "string" } }, { required: ["at"] }),
    ],
  });
  expect(JSON.stringify(sent)).not.toMatch(/"(?:anyOf|allOf|\$ref)"/);
});
