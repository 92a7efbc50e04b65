import type OpenAI from "openai";
import { expect, it } from "vitest";
import { startScripted } from "../harness/scripted.ts";
import { openai, startResponses } from "./responses-gateway.ts";
import { messagesUpstream } from "./table/messages-upstream.ts";

type Tool = OpenAI.Responses.Tool;
type Input = OpenAI.Responses.ResponseInputItem;

const search = {
  type: "function" as const,
  name: "search",
  description: "Searches",
  strict: false,
  parameters: { type: "object", properties: { query: { type: "string" } } },
};

/** Tools as Codex sends them. */
const tools: Tool[] = [
  { type: "namespace", name: "mcp__docs__", description: "Docs", tools: [search] },
  { type: "namespace", name: "agents", description: "Agents", tools: [search] },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits files.",
    format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
  },
  { type: "local_shell" },
  {
    type: "tool_search",
    execution: "client",
    description: "Finds tools",
    parameters: search.parameters,
  },
  { type: "web_search" },
];

/** Calls of a model of Anthropic, and the items that a client gets for them. */
const calls = [
  [
    { name: "mcp__docs__search", input: { query: "a" } },
    { type: "function_call", name: "search", namespace: "mcp__docs__", arguments: '{"query":"a"}' },
  ],
  [
    { name: "agents__search", input: { query: "b" } },
    { type: "function_call", name: "search", namespace: "agents", arguments: '{"query":"b"}' },
  ],
  [
    { name: "apply_patch", input: { input: 'a "b"\nc' } },
    { type: "custom_tool_call", name: "apply_patch", input: 'a "b"\nc' },
  ],
  [
    { name: "local_shell", input: { command: ["ls", "-l"], timeout_ms: 5 } },
    { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"], timeout_ms: 5 } },
  ],
  [
    { name: "tool_search", input: { query: "c" } },
    { type: "tool_search_call", execution: "client", arguments: { query: "c" } },
  ],
] as const;

/** A provider whose model makes the calls, whole or streamed. */
async function startCaller() {
  const upstream = await startScripted((response, _count, { body }) => {
    const said = { text: "", reasoning: "", calls: calls.map(([call]) => call) };
    if (JSON.parse(body.toString("utf8")).stream !== true) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(messagesUpstream.whole(said));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of messagesUpstream.events(said)) response.write(event);
    response.end();
  });
  const client = openai(await startResponses("anthropic", upstream.host));
  const sent = () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}");
  return { client, sent };
}

it("tools of agents become functions of a provider without them", async () => {
  const { client, sent } = await startCaller();
  await client.responses.create({ model: "claude-1", input: "Hello", tools });
  expect(sent().tools.map(({ name }: { name: string }) => name)).toEqual([
    ...["mcp__docs__search", "agents__search", "apply_patch", "local_shell", "tool_search"],
    "web_search",
  ]);
  expect(sent().tools[2]).toMatchObject({
    description: "Edits files.\n\n`input` must match this lark grammar:\nstart: /.+/",
    input_schema: { properties: { input: { type: "string" } }, required: ["input"] },
  });
});

it("calls arrive as the items of their tools", async () => {
  const { client } = await startCaller();
  const request = { model: "claude-1", input: "Hello", tools };
  const whole = await client.responses.create(request);
  expect(whole.output).toMatchObject(calls.map(([, item]) => item));
});

it("calls arrive as the items of their tools in a stream", async () => {
  const { client } = await startCaller();
  const request = { model: "claude-1", input: "Hello", tools, stream: true as const };
  const done: unknown[] = [];
  let patch = "";
  for await (const event of await client.responses.create(request)) {
    if (event.type === "response.output_item.done") done.push(event.item);
    if (event.type === "response.custom_tool_call_input.delta") patch += event.delta;
  }
  expect(done).toMatchObject(calls.map(([, item]) => item));
  expect(patch).toBe('a "b"\nc');
});

it("calls and outputs of the history become those of functions", async () => {
  const { client, sent } = await startCaller();
  const found = { ...search, name: "found" };
  const history = [
    { role: "user", content: "Hello" },
    { type: "web_search_call", id: "ws_1", status: "completed" },
    {
      ...{ type: "function_call", call_id: "c1", name: "search", namespace: "agents" },
      arguments: "{}",
    },
    { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "x" },
    {
      ...{ type: "local_shell_call", id: "l", call_id: "c3", status: "completed" },
      action: { type: "exec", command: ["ls"], env: {} },
    },
    { type: "tool_search_call", call_id: "c4", execution: "client", arguments: { query: "q" } },
    { type: "function_call_output", call_id: "c1", output: "1" },
    { type: "custom_tool_call_output", call_id: "c2", output: "2" },
    { type: "local_shell_call_output", id: "c3", output: "3" },
    { type: "tool_search_output", call_id: "c4", execution: "client", tools: [found] },
  ] as unknown as Input[];
  await client.responses.create({ model: "claude-1", input: history, tools });
  const { messages, tools: listed } = sent();
  expect(messages[1].content).toMatchObject([
    { type: "tool_use", id: "c1", name: "agents__search", input: {} },
    { type: "tool_use", id: "c2", name: "apply_patch", input: { input: "x" } },
    { type: "tool_use", id: "c3", name: "local_shell", input: { command: ["ls"] } },
    { type: "tool_use", id: "c4", name: "tool_search", input: { query: "q" } },
  ]);
  expect(messages[2].content).toMatchObject(
    ["1", "2", "3", "Tools: found"].map((text, index) => ({
      ...{ type: "tool_result", tool_use_id: `c${index + 1}` },
      content: [{ type: "text", text }],
    })),
  );
  expect(listed.at(-2)).toMatchObject({ name: "found" });
});
