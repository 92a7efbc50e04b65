import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { startAiGateway } from "../harness/ai-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { complete } from "./llm-upstream.ts";

type Message = Anthropic.Beta.BetaMessageParam;
type Tool = Anthropic.Beta.BetaToolUnion;

/** Anthropic's client of a gateway in front of a server of chat completions. */
async function start() {
  const upstream = await startScripted((response, _, request) => complete(response, request));
  const { url } = await startAiGateway(
    upstream.host,
    { "/v1/messages": "messages" },
    { provider: { openAI: { api: "completions" } } },
  );
  const client = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 });
  const ask = async (messages: Message[], tools: Tool[] = []) => {
    await client.beta.messages.create({ model: "m", max_tokens: 99, messages, tools });
    return JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}");
  };
  return { ask };
}

const hello: Message = { role: "user", content: "Hello" };
const schema = { type: "object" as const, properties: {} };
const named = ({ tools }: { tools: { function: { name: string } }[] }) =>
  tools.map((tool) => tool.function.name);

it("tools that Claude knows by their types are functions for other models", async () => {
  const { ask } = await start();
  const sent = await ask(
    [hello],
    [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      { type: "memory_20250818", name: "memory" },
    ],
  );
  expect(named(sent)).toEqual(["bash", "str_replace_based_edit_tool", "memory"]);
  expect(sent.tools).toMatchObject([
    { function: { parameters: { properties: { command: { type: "string" } } } } },
    { function: { parameters: { required: ["command", "path"] } } },
    { function: { parameters: { properties: { old_path: { type: "string" } } } } },
  ]);
});

it("tools that a search would find are listed, and found ones are named", async () => {
  const { ask } = await start();
  const sent = await ask(
    [
      hello,
      {
        role: "assistant",
        content: [
          {
            ...{ type: "server_tool_use", id: "s1", name: "tool_search_tool_regex" },
            input: { query: "x" },
          },
          {
            ...{ type: "tool_search_tool_result", tool_use_id: "s1" },
            content: { type: "tool_search_tool_search_result", tool_references: [] },
          },
          { type: "tool_use", id: "t1", name: "find_tools", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            ...{ type: "tool_result", tool_use_id: "t1" },
            content: [{ type: "tool_reference", tool_name: "late" }],
          },
        ],
      },
    ],
    [
      { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
      { name: "find_tools", input_schema: schema },
      { name: "late", input_schema: schema, defer_loading: true },
    ],
  );
  expect(named(sent)).toEqual(["find_tools", "late"]);
  expect(sent.messages.slice(1)).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "t1" }] },
    { role: "tool", tool_call_id: "t1", content: "Tool: late" },
  ]);
});

it("calls that Anthropic's servers ran continue with another model", async () => {
  const { ask } = await start();
  const sent = await ask([
    hello,
    {
      role: "assistant",
      content: [
        { type: "mcp_tool_use", id: "m1", name: "read", server_name: "docs", input: { a: 1 } },
        {
          ...{ type: "mcp_tool_result", tool_use_id: "m1", is_error: false },
          content: [{ type: "text", text: "42" }],
        },
        { type: "text", text: "It is 42." },
      ],
    },
    { role: "user", content: "Thanks" },
  ]);
  expect(sent.messages.slice(1)).toMatchObject([
    { tool_calls: [{ id: "m1", function: { name: "docs__read", arguments: '{"a":1}' } }] },
    { role: "tool", tool_call_id: "m1", content: "42" },
    { role: "assistant", content: "It is 42." },
    { role: "user", content: "Thanks" },
  ]);
});

it("what a client has found is text, unless it has to be cited", async () => {
  const { ask } = await start();
  const found = (enabled: boolean): Message => ({
    role: "user",
    content: [
      {
        ...{ type: "search_result", source: "https://a.test", title: "A" },
        ...{ content: [{ type: "text", text: "B" }], citations: { enabled } },
      },
    ],
  });
  expect((await ask([found(false)])).messages[0].content).toMatchObject([
    { text: "A (https://a.test):" },
    { text: "B" },
  ]);
  await expect(ask([found(true)])).rejects.toThrow("messages[0].content[0].citations");
});

it("a document in parts is its text, and a file of text is no PDF", async () => {
  const { ask } = await start();
  const sent = await ask([
    {
      role: "user",
      content: [
        {
          type: "document",
          source: { type: "content", content: [{ type: "text", text: "Part" }] },
        },
        {
          ...{ type: "document", title: "a.csv" },
          source: {
            ...{ type: "base64", media_type: "text/csv" as "application/pdf" },
            data: Buffer.from("a,b").toString("base64"),
          },
        },
      ],
    },
  ]);
  expect(sent.messages[0].content).toEqual([
    { type: "text", text: "Part" },
    { type: "text", text: "a.csv:\na,b" },
  ]);
});
