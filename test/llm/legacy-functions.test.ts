import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { respond } from "./table/respond.ts";

type Body = OpenAI.Chat.ChatCompletionCreateParams;

const providers = {
  anthropic: { anthropic: { model: "claude-1" } },
  responses: { openai: { model: "gpt-5", api: "responses" } },
  vertexai: { vertexai: { projectId: "p", model: "gemini-2.5-pro" } },
  bedrock: { bedrock: { model: "anthropic.claude-1-v1:0" } },
} as const;

const names = ["anthropic", "responses", "vertexai", "bedrock"] as const;

/** A client of chat completions, in front of a provider of another API. */
async function startChat(name: keyof typeof providers) {
  const upstream = await startScripted(respond);
  const provider = providers[name];
  const { url } = await startAiGateway(upstream.host, { "*": "completions" }, { provider });
  return {
    client: new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}"),
  };
}

const parameters = { type: "object", properties: { city: { type: "string" } } };
const ask = {
  model: "m",
  messages: [{ role: "user" as const, content: "[tools]" }],
  functions: [{ name: "get_weather", description: "Weather", parameters }],
};

it.each(names)("a function is called by a model of %s", async (name) => {
  const { client } = await startChat(name);
  const { choices } = await client.chat.completions.create(ask);
  const { message, finish_reason } = choices[0] ?? {};
  expect(finish_reason).toBe("function_call");
  expect(message?.function_call?.name).toBe("get_weather");
  expect(JSON.parse(message?.function_call?.arguments ?? "")).toMatchObject({
    city: expect.any(String),
  });
  expect(message).not.toHaveProperty("tool_calls");
});

it.each(names)("a function is called in a stream of %s", async (name) => {
  const { client } = await startChat(name);
  const stream = await client.chat.completions.create({ ...ask, stream: true });
  let called = "";
  let input = "";
  let reason: string | null = null;
  for await (const { choices } of stream) {
    const [choice] = choices;
    called += choice?.delta.function_call?.name ?? "";
    input += choice?.delta.function_call?.arguments ?? "";
    reason = choice?.finish_reason ?? reason;
  }
  expect(called).toBe("get_weather");
  expect(JSON.parse(input)).toMatchObject({ city: expect.any(String) });
  expect(reason).toBe("function_call");
});

it("a model may call one function at a time", async () => {
  const { client, sent } = await startChat("anthropic");
  await client.chat.completions.create(ask);
  expect(sent().tool_choice).toEqual({ type: "auto", disable_parallel_tool_use: true });
});

it.each([
  ["none", { type: "none" }],
  [{ name: "get_weather" }, { type: "tool", name: "get_weather", disable_parallel_tool_use: true }],
] as const)("the choice of a function is kept: %j", async (choice, sentChoice) => {
  const { client, sent } = await startChat("anthropic");
  await client.chat.completions.create({ ...ask, function_call: choice });
  expect(sent().tool_choice).toEqual(sentChoice);
});

const call = (input: string): Body["messages"][number] => ({
  ...{ role: "assistant", content: null },
  function_call: { name: "get_weather", arguments: input },
});
const result = (content: string): Body["messages"][number] => ({
  ...{ role: "function", name: "get_weather", content },
});

it("results of functions belong to the calls before them", async () => {
  const { client, sent } = await startChat("anthropic");
  const turns = [call('{"city":"Rome"}'), result("Rain"), call('{"city":"Oslo"}'), result("Snow")];
  await client.chat.completions.create({ ...ask, messages: [...ask.messages, ...turns] });
  expect(sent().messages.slice(1)).toMatchObject([
    { role: "assistant", content: [{ type: "tool_use", id: "call_1", input: { city: "Rome" } }] },
    { role: "user", content: [{ tool_use_id: "call_1", content: [{ text: "Rain" }] }] },
    { role: "assistant", content: [{ type: "tool_use", id: "call_2", input: { city: "Oslo" } }] },
    { role: "user", content: [{ tool_use_id: "call_2", content: [{ text: "Snow" }] }] },
  ]);
});

it("a result without a call is refused with its place", async () => {
  const { client } = await startChat("anthropic");
  const messages = [...ask.messages, result("Rain")];
  await expect(client.chat.completions.create({ ...ask, messages })).rejects.toMatchObject({
    status: 400,
    param: "messages[1].name",
  });
});
