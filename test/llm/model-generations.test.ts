import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { sentFor } from "./sent-for.ts";

const hello = [{ role: "user", content: "Hello" }];
const ask = (model: string, more: object): JsonObject => ({ model, messages: hello, ...more });

describe("reasoning of a client of chat completions, at Claude", () => {
  it.each(["claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "claude-3-7-sonnet-latest"])(
    "%s gets a budget",
    (model) => {
      const sent = sentFor(
        completionsClient,
        messagesUpstream,
        ask(model, { reasoning_effort: "high" }),
      );
      expect(sent).toMatchObject({ thinking: { type: "enabled", budget_tokens: 4096 } });
    },
  );

  it.each([
    ["claude-opus-4-6", "xhigh", "high"],
    ["claude-opus-4-6", "max", "max"],
    ["claude-sonnet-4-6-20251001", "max", "high"],
    ["claude-opus-4-7", "xhigh", "xhigh"],
    ["claude-sonnet-5", "minimal", "low"],
  ])("%s decides itself, with an effort of %s as %s", (model, effort, sent) => {
    expect(
      sentFor(completionsClient, messagesUpstream, ask(model, { reasoning_effort: effort })),
    ).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: sent } });
  });

  it("models at Bedrock get the same in additional fields", () => {
    const sent = sentFor(
      completionsClient,
      converseUpstream,
      ask("us.anthropic.claude-opus-4-7-v1:0", { reasoning_effort: "high", temperature: 1 }),
    );
    expect(sent).toMatchObject({
      additionalModelRequestFields: {
        thinking: { type: "adaptive" },
        output_config: { effort: "high" },
      },
    });
    expect(sent).not.toHaveProperty("inferenceConfig.temperature");
  });

  it("models that refuse sampling parameters do not get them", () => {
    const sampled = { temperature: 0.5, top_p: 0.9 };
    const newest = sentFor(completionsClient, messagesUpstream, ask("claude-opus-4-7", sampled));
    expect(newest).not.toHaveProperty("temperature");
    expect(newest).not.toHaveProperty("top_p");
    expect(
      sentFor(completionsClient, messagesUpstream, ask("claude-opus-4-6", sampled)),
    ).toMatchObject(sampled);
  });
});

describe("requests to OpenAI's models", () => {
  it("a user id beyond the limit becomes a digest", () => {
    const metadata = { user_id: `user_${"a".repeat(150)}` };
    const sent = sentFor(
      messagesClient,
      completionsUpstream,
      ask("gpt-4o", { max_tokens: 9, metadata }),
    );
    expect(sent).toMatchObject({ user: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});

describe("cache marks of a client of chat completions", () => {
  it("reach Claude from parts, messages and tools", () => {
    const cache_control = { type: "ephemeral" };
    const tool = { type: "function", cache_control, function: { name: "t", parameters: {} } };
    const messages = [
      { role: "system", content: "Be kind", cache_control },
      { role: "user", content: [{ type: "text", text: "Hello", cache_control }] },
    ];
    const sent = sentFor(completionsClient, messagesUpstream, {
      model: "claude-sonnet-4-5",
      messages,
      tools: [tool],
    });
    expect(sent).toMatchObject({
      system: [{ text: "Be kind", cache_control }],
      messages: [{ content: [{ text: "Hello", cache_control }] }],
      tools: [{ name: "t", cache_control }],
    });
  });
});
