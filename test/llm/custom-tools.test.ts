import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { messagesUpstream } from "./table/messages-upstream.ts";

const patch = "*** Begin Patch";
const said = { text: "", reasoning: "", calls: [{ name: "apply", input: { input: patch } }] };

/** OpenAI's client of a gateway in front of Claude, which calls a tool. */
async function start() {
  const upstream = await startScripted((response, _, { body }) => {
    const isStream = JSON.parse(body.toString()).stream === true;
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? messagesUpstream.events(said).join("") : messagesUpstream.whole(said));
  });
  const { url } = await startAiGateway(
    upstream.host,
    { "*": "completions" },
    { provider: { anthropic: {} } },
  );
  return {
    client: new OpenAI({ apiKey: "c", baseURL: `${url}/v1`, maxRetries: 0 }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString() ?? "{}"),
  };
}

const request = {
  model: "claude-1",
  messages: [
    { role: "user", content: "[tools]" },
    {
      role: "assistant",
      tool_calls: [{ id: "c1", type: "custom", custom: { name: "apply", input: "before" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "done" },
  ],
  tools: [
    {
      type: "custom",
      custom: {
        name: "apply",
        description: "Applies a patch.",
        format: { type: "grammar", grammar: { syntax: "lark", definition: "start: LINE" } },
      },
    },
  ],
  tool_choice: { type: "custom", custom: { name: "apply" } },
} satisfies OpenAI.ChatCompletionCreateParamsNonStreaming;

it("a custom tool of chat completions is a function with one string for other models", async () => {
  const { client, sent } = await start();
  await client.chat.completions.create(request);
  const { tools, tool_choice: choice, messages } = sent();
  expect(tools).toMatchObject([
    {
      name: "apply",
      description: expect.stringMatching(/Applies a patch.*lark grammar.*start: LINE/s),
      input_schema: { properties: { input: { type: "string" } }, required: ["input"] },
    },
  ]);
  expect(choice).toEqual({ type: "tool", name: "apply" });
  expect(messages[1].content).toMatchObject([{ name: "apply", input: { input: "before" } }]);
});

it("its calls have the text as input", async () => {
  const { client } = await start();
  const { choices } = await client.chat.completions.create(request);
  expect(choices[0]?.finish_reason).toBe("tool_calls");
  expect(choices[0]?.message.tool_calls).toMatchObject([
    { type: "custom", custom: { name: "apply", input: patch } },
  ]);
});

it("its calls on a stream have the text as input, too", async () => {
  const { client } = await start();
  const stream = await client.chat.completions.create({ ...request, stream: true });
  const deltas: object[] = [];
  let finish: string | null = null;
  for await (const { choices } of stream) {
    deltas.push(...(choices[0]?.delta.tool_calls ?? []));
    finish = choices[0]?.finish_reason ?? finish;
  }
  expect(finish).toBe("tool_calls");
  expect(deltas).toMatchObject([
    { index: 0, type: "custom", custom: { name: "apply", input: "" } },
    { index: 0, custom: { input: patch } },
  ]);
});
