import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startProvider } from "../harness/model-provider.ts";

let gateway: Gateway;

beforeAll(async () => {
  const { host } = await startProvider([{ prompt: "Hello", response: { content: "Hi there." } }]);
  const params = { apiKey: "${KEY}", hostOverride: host };
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          { name: "fast", provider: "anthropic", params: { ...params, model: "claude-haiku-4-5" } },
          { name: "gpt-*", provider: "openAI", params },
        ],
      },
    },
  });
});

const messages = [{ role: "user" as const, content: "Hello" }];

it.each([
  ["fast", "claude-haiku-4-5"],
  ["gpt-5-mini", "gpt-5-mini"],
])("clients of either format ask for %s by its name", async (model, served) => {
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  const completion = await openai.chat.completions.create({ model, messages });
  expect(completion.model).toBe(served);
  expect(completion.choices[0]?.message.content).toBe("Hi there.");
  const message = await anthropic.messages.create({ model, messages, max_tokens: 10 });
  expect(message.model).toBe(served);
  expect(message.content).toMatchObject([{ type: "text", text: "Hi there." }]);
});

it("a model that nobody has is not found, in the client's own words", async () => {
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const call = openai.chat.completions.create({ model: "other", messages });
  await expect(call).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  await expect(
    anthropic.messages.create({ model: "other", messages, max_tokens: 10 }),
  ).rejects.toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
});
