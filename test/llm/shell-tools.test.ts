import type OpenAI from "openai";
import { expect, it } from "vitest";
import { startScripted } from "../harness/scripted.ts";
import { openai, startResponses } from "./responses-gateway.ts";
import { messagesUpstream } from "./table/messages-upstream.ts";

type Tool = OpenAI.Responses.Tool;
type Input = OpenAI.Responses.ResponseInputItem;

const look = { type: "function" as const, name: "look", strict: false, parameters: {} };
const tools: Tool[] = [
  { type: "shell", environment: { type: "local" } },
  { type: "apply_patch" },
  { type: "namespace", name: "docs", description: "Docs", tools: [look] },
];
const operation = { type: "update_file" as const, path: "a.txt", diff: "-a\n+b" };
const calls = [
  { name: "shell", input: { commands: ["ls", "pwd"], timeout_ms: 9 } },
  { name: "apply_patch", input: operation },
];
const items = [
  {
    type: "shell_call",
    action: { commands: ["ls", "pwd"], timeout_ms: 9, max_output_length: null },
  },
  { type: "apply_patch_call", operation },
];

/** A client of Responses in front of Claude, which calls both tools. */
async function start() {
  const said = { text: "", reasoning: "", calls };
  const upstream = await startScripted((response, _, { body }) => {
    const isStream = JSON.parse(body.toString()).stream === true;
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? messagesUpstream.events(said).join("") : messagesUpstream.whole(said));
  });
  const client = openai(await startResponses("anthropic", upstream.host));
  const sent = () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}");
  return { client, sent };
}

const ask = { model: "claude-1", input: "Hello", tools };

it("a shell and patches are functions for other models, whole and streamed", async () => {
  const { client, sent } = await start();
  const { output } = await client.responses.create(ask);
  expect(output).toMatchObject(items);
  expect(sent().tools).toMatchObject([
    { name: "shell", input_schema: { required: ["commands"] } },
    { name: "apply_patch", input_schema: { required: ["type", "path"] } },
    { name: "docs__look" },
  ]);
  const done: unknown[] = [];
  for await (const event of await client.responses.create({ ...ask, stream: true })) {
    if (event.type === "response.output_item.done") done.push(event.item);
  }
  expect(done).toMatchObject(items);
});

it("their outputs are the results of the calls", async () => {
  const { client, sent } = await start();
  const outcome = { type: "exit" as const, exit_code: 0 };
  const printed = { stdout: "a.txt", stderr: "", outcome };
  const input: Input[] = [
    { role: "user", content: "Hello" },
    { type: "shell_call", call_id: "c1", action: { commands: ["ls"] } },
    { type: "apply_patch_call", call_id: "c2", status: "completed", operation },
    { type: "shell_call_output", call_id: "c1", output: [printed] },
    { type: "apply_patch_call_output", call_id: "c2", status: "failed", output: "no such file" },
  ];
  await client.responses.create({ ...ask, input });
  expect(sent().messages.slice(1)).toMatchObject([
    {
      content: [
        { type: "tool_use", id: "c1", name: "shell", input: { commands: ["ls"] } },
        { type: "tool_use", id: "c2", name: "apply_patch", input: operation },
      ],
    },
    {
      content: [
        { tool_use_id: "c1", content: [{ text: JSON.stringify([printed]) }] },
        { tool_use_id: "c2", content: [{ text: "no such file" }], is_error: true },
      ],
    },
  ]);
});

it("a tool is chosen by its type, or by its name in a namespace", async () => {
  const { client, sent } = await start();
  await client.responses.create({ ...ask, tool_choice: { type: "shell" } });
  expect(sent().tool_choice).toMatchObject({ type: "tool", name: "shell" });
  const chosen = { type: "function", name: "look", namespace: "docs" } as const;
  await client.responses.create({ ...ask, tool_choice: chosen });
  expect(sent().tool_choice).toMatchObject({ type: "tool", name: "docs__look" });
  const allowed = { type: "allowed_tools" as const, mode: "auto" as const, tools: [chosen] };
  await client.responses.create({ ...ask, tool_choice: allowed });
  expect(sent().tools).toMatchObject([{ name: "docs__look" }]);
});

it("a shell in a container of OpenAI is refused by its name", async () => {
  const { client } = await start();
  const hosted: Tool[] = [{ type: "shell", environment: { type: "container_auto" } }];
  await expect(client.responses.create({ ...ask, tools: hosted })).rejects.toMatchObject({
    status: 400,
    param: "tools[0].type",
  });
});

it("a search for tools by the server is replaced by the whole list", async () => {
  const { client, sent } = await start();
  const listed: Tool[] = [{ type: "tool_search" }, { ...look, defer_loading: true }];
  await client.responses.create({ ...ask, tools: listed });
  expect(sent().tools).toMatchObject([{ name: "look" }]);
});

it("calls that OpenAI's servers ran continue with another model", async () => {
  const { client, sent } = await start();
  const image = { type: "image_generation_call" as const, id: "i", status: "completed" as const };
  const input: Input[] = [
    { role: "user", content: "Hello" },
    {
      ...{ type: "code_interpreter_call", id: "c", code: "6*7", container_id: "k" },
      ...{ status: "completed", outputs: [{ type: "logs" as const, logs: "42" }] },
    },
    { type: "mcp_list_tools", id: "l", server_label: "docs", tools: [] },
    {
      ...{ type: "mcp_call", id: "m", server_label: "docs", name: "read" },
      ...{ arguments: '{"a":1}', output: "text" },
    },
    { ...image, result: "AAAA" },
    { role: "user", content: "Continue" },
  ];
  await client.responses.create({ ...ask, input });
  expect(sent().messages.slice(1)).toMatchObject([
    { content: [{ type: "tool_use", name: "code_interpreter", input: { code: "6*7" } }] },
    { content: [{ type: "tool_result", content: [{ text: '[{"type":"logs","logs":"42"}]' }] }] },
    { content: [{ type: "tool_use", name: "docs__read", input: { a: 1 } }] },
    {
      content: [
        { type: "tool_result", content: [{ text: "text" }] },
        { type: "text", text: "The image that you generated:" },
        { type: "image", source: { data: "AAAA" } },
        { type: "text", text: "Continue" },
      ],
    },
  ]);
});
