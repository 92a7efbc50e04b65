import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

const replies = [
  { prompt: "Hello", response: { content: "Hi there." } },
  {
    prompt: "weather",
    response: { toolCalls: [{ name: "get_weather", arguments: '{"city":"Paris"}' }] },
  },
];

const provided = { openai: { openAI: {} }, anthropic: { anthropic: {} } };

/** A gateway whose clients may speak either format, in front of a provider that speaks one. */
async function startAi(name: keyof typeof provided, ai: object = {}): Promise<Gateway> {
  const { host } = await startProvider(replies);
  const routes = { "/v1/messages": "messages", "*": "completions" };
  return startAiGateway(host, routes, { provider: provided[name], ai });
}

function openai({ url }: Gateway): OpenAI {
  return new OpenAI({ apiKey: "client-key", baseURL: `${url}/v1`, maxRetries: 0 });
}

function anthropic({ url }: Gateway): Anthropic {
  return new Anthropic({ apiKey: "client-key", baseURL: url, maxRetries: 0 });
}

const hello = [{ role: "user" as const, content: "Hello" }];
const weather = [{ role: "user" as const, content: "How is the weather?" }];
const schema = { type: "object" as const, properties: { city: { type: "string" } } };

it.each(["openai", "anthropic"] as const)("OpenAI's client talks to %s", async (provider) => {
  const client = openai(await startAi(provider));
  const whole = await client.chat.completions.create({ model: "m", messages: hello });
  expect(whole.choices[0]).toMatchObject({
    message: { role: "assistant", content: "Hi there." },
    finish_reason: "stop",
  });
  const stream = client.chat.completions.stream({
    model: "m",
    messages: weather,
    tools: [{ type: "function", function: { name: "get_weather", parameters: schema } }],
  });
  const streamed = await stream.finalChatCompletion();
  expect(streamed.choices[0]).toMatchObject({
    message: { tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Paris"}' } }] },
    finish_reason: "tool_calls",
  });
});

it.each(["openai", "anthropic"] as const)("Anthropic's client talks to %s", async (provider) => {
  const client = anthropic(await startAi(provider));
  const whole = await client.messages.create({ model: "m", max_tokens: 100, messages: hello });
  expect(whole).toMatchObject({
    content: [{ type: "text", text: "Hi there." }],
    stop_reason: "end_turn",
  });
  const stream = client.messages.stream({
    model: "m",
    max_tokens: 100,
    messages: weather,
    tools: [{ name: "get_weather", input_schema: schema }],
  });
  expect(await stream.finalMessage()).toMatchObject({
    content: [{ type: "tool_use", name: "get_weather", input: { city: "Paris" } }],
    stop_reason: "tool_use",
  });
});

it("a request that the provider cannot be asked is refused with the name of its field", async () => {
  const client = openai(await startAi("anthropic"));
  const call = client.chat.completions.create({ model: "m", messages: hello, n: 3 });
  await expect(call).rejects.toMatchObject({ status: 400, param: "n" });
});
