import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { converseResponse, converseStream } from "../harness/bedrock.ts";
import { startScripted } from "../harness/scripted.ts";

/** Longer than what Converse, Gemini and OpenAI take. */
const long = `mcp__${"files_and_folders_".repeat(5)}read`;
const schema = { type: "object" as const, properties: {} };

/** Bedrock, which calls the first tool that it is offered. */
async function startCaller() {
  const bedrock = await startScripted((response, _, { url, body }) => {
    const { toolConfig } = JSON.parse(body.toString());
    const { name } = toolConfig.tools[0].toolSpec;
    if (!url.endsWith("-stream")) {
      response.writeHead(200, { "content-type": "application/json" });
      const toolUse = { toolUseId: "t1", name, input: {} };
      response.end(converseResponse([{ toolUse }], "tool_use"));
      return;
    }
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    response.end(
      converseStream([
        { messageStart: { role: "assistant" } },
        {
          contentBlockStart: {
            contentBlockIndex: 0,
            start: { toolUse: { toolUseId: "t1", name } },
          },
        },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: "{}" } } } },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: "tool_use" } },
      ]),
    );
  });
  const gateway = await startAiGateway(
    bedrock.host,
    { "/v1/messages": "messages", "*": "completions" },
    { provider: { bedrock: { region: "eu-west-1" } } },
  );
  const sent = () => bedrock.received.map(({ body }) => JSON.parse(body.toString()));
  return { gateway, sent };
}

it("a tool with a name too long for the provider is called by its own name", async () => {
  const { gateway, sent } = await startCaller();
  const openai = new OpenAI({ apiKey: "x", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const asked = {
    model: "m",
    tools: [{ type: "function" as const, function: { name: long, parameters: schema } }],
    tool_choice: { type: "function" as const, function: { name: long } },
  };
  const call = { id: "c1", type: "function" as const, function: { name: long, arguments: "{}" } };
  const completion = await openai.chat.completions.create({
    ...asked,
    messages: [
      { role: "user", content: "Read." },
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "Nothing." },
    ],
  });
  expect(completion.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: long } }]);
  const [{ toolConfig, messages }] = sent();
  const { name } = toolConfig.tools[0].toolSpec;
  expect(name).toMatch(/^mcp__files_and_folders_[a-zA-Z0-9_-]{1,42}$/);
  expect(toolConfig.toolChoice).toEqual({ tool: { name } });
  expect(messages[1].content[0].toolUse.name).toBe(name);
  const stream = openai.chat.completions.stream({
    ...asked,
    messages: [{ role: "user", content: "Read." }],
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: long } }]);
});

it("names that differ behind what the provider takes stay apart", async () => {
  const { gateway, sent } = await startCaller();
  const anthropic = new Anthropic({ apiKey: "x", baseURL: gateway.url, maxRetries: 0 });
  const message = await anthropic.messages.create({
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: "Read." }],
    tools: [`${long}_a`, `${long}_b`, "plain"].map((name) => ({ name, input_schema: schema })),
  });
  expect(message.content).toMatchObject([{ type: "tool_use", name: `${long}_a` }]);
  const names = sent()[0].toolConfig.tools.map(
    ({ toolSpec }: { toolSpec: { name: string } }) => toolSpec.name,
  );
  expect(new Set(names).size).toBe(3);
  expect(names[2]).toBe("plain");
});
