import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { everyFormat, startAiGateway } from "../harness/ai-gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { messagesUpstream } from "./table/messages-upstream.ts";
import { namedEvents } from "./table/upstream.ts";

type Input = OpenAI.Responses.ResponseInputItem;
type Tool = OpenAI.Responses.Tool.Mcp;

const connector: Tool = { type: "mcp", server_label: "docs", server_url: "https://docs.test/mcp" };
const asked = {
  ...{ type: "mcp_approval_request" as const, id: "mcpr_1", server_label: "docs" },
  ...{ name: "remove", arguments: '{"id":1}' },
};
const approval = {
  type: "mcp_approval_response" as const,
  approval_request_id: asked.id,
  approve: true,
};
const response = {
  ...{ id: "resp_1", object: "response", model: "gpt-5", status: "completed" },
  ...{ output: [asked], usage: { input_tokens: 9, output_tokens: 7, total_tokens: 16 } },
};
const events = namedEvents([
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: asked },
  { type: "response.output_item.done", output_index: 0, item: asked },
  { type: "response.completed", response },
]);

/** OpenAI, which asks for an approval of a call. */
function startAsking(): Promise<Scripted> {
  return startScripted((answer, _count, { body }) => {
    const isStream = JSON.parse(body.toString()).stream === true;
    answer.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    answer.end(isStream ? events.join("") : JSON.stringify(response));
  }, "anything");
}

async function start(upstream: Scripted, provider: object, ai: object = {}) {
  const { url } = await startAiGateway(upstream.host, everyFormat, { provider, ai });
  return {
    openai: new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString() ?? "{}"),
  };
}

async function startClaude(ai: object = {}) {
  const upstream = await startScripted((answer) => {
    answer.writeHead(200, { "content-type": "application/json" });
    answer.end(messagesUpstream.whole({ text: "Done.", reasoning: "", calls: [] }));
  }, "anything");
  return { upstream, ...(await start(upstream, { anthropic: {} }, ai)) };
}

describe("approvals of calls of MCP servers", () => {
  it("pass between a client of responses and OpenAI", async () => {
    const { openai, sent } = await start(await startAsking(), { openai: {} });
    const tools: Tool[] = [
      { ...connector, require_approval: { always: { tool_names: ["remove"] } } },
    ];
    const { output } = await openai.responses.create({ model: "gpt-5", input: "Go", tools });
    expect(output).toEqual([asked]);
    expect(sent().tools).toEqual(tools);
    const stream = await openai.responses.create({
      ...{ model: "gpt-5", input: [asked, approval], tools, stream: true },
    });
    const items: unknown[] = [];
    for await (const event of stream)
      if (event.type === "response.output_item.done") items.push(event.item);
    expect(items).toEqual([asked]);
    expect(sent().input).toEqual([asked, approval]);
  });

  it("end the response of a client that cannot give them", async () => {
    const { anthropic } = await start(await startAsking(), { openai: { api: "responses" } });
    const message = {
      ...{ model: "gpt-5", max_tokens: 10 },
      messages: [{ role: "user" as const, content: "Go" }],
    };
    await expect(anthropic.messages.create(message)).rejects.toMatchObject({ status: 502 });
    await expect(anthropic.messages.stream(message).finalMessage()).rejects.toThrow(/api_error/);
  });
});

describe("an MCP server at a provider that does not ask for approvals", () => {
  it.each<Partial<Tool>>([
    {},
    { require_approval: "always" },
    { require_approval: { always: { tool_names: ["remove"] } } },
    { require_approval: { never: { tool_names: ["find"] } } },
    { require_approval: { never: { read_only: true } }, allowed_tools: ["find"] },
    { require_approval: { never: { tool_names: ["find"] } }, allowed_tools: ["find", "remove"] },
    {
      require_approval: { never: { tool_names: ["find"] }, always: { tool_names: ["find"] } },
      allowed_tools: ["find"],
    },
  ])("is refused with %j", async (more) => {
    const { upstream, openai } = await startClaude();
    const body = { model: "claude", input: "Go", tools: [{ ...connector, ...more }] };
    await expect(openai.responses.create(body)).rejects.toMatchObject({
      ...{ status: 400, param: "tools[0].type" },
      message: expect.stringMatching(/whose calls require approval/),
    });
    expect(upstream.received).toEqual([]);
  });

  it("is left out as a whole with `unsupported: drop`", async () => {
    const { openai, sent } = await startClaude({ unsupported: "drop" });
    const body = { model: "claude", input: "Go", tools: [connector] };
    const { headers } = await openai.responses.create(body).asResponse();
    expect(headers.get("x-llm-dropped")).toBe("tools[0]");
    expect(sent()).not.toHaveProperty("mcp_servers");
  });

  it("is called if no allowed tool needs an approval", async () => {
    const { openai, sent } = await startClaude();
    const require_approval = { never: { tool_names: ["find", "read"] } };
    const tools = [{ ...connector, require_approval, allowed_tools: ["find"] }];
    await openai.responses.create({ model: "claude", input: "Go", tools });
    expect(sent().tools).toMatchObject([
      { default_config: { enabled: false }, configs: { find: { enabled: true } } },
    ]);
  });
});

describe("approvals in the history for another model", () => {
  const made: Input = {
    ...{ type: "mcp_call", id: "mcp_1", server_label: "docs", name: "remove" },
    ...{ arguments: '{"id":1}', output: "Removed.", approval_request_id: asked.id },
  };
  const question: Input = { role: "user", content: "Go" };
  const use = { type: "tool_use", name: "docs__remove", input: { id: 1 } };

  it("are part of the call that was made", async () => {
    const { openai, sent } = await startClaude();
    const input: Input[] = [question, asked, approval, made, question];
    await openai.responses.create({ model: "claude", input });
    expect(sent().messages).toMatchObject([
      {},
      { content: [use] },
      { content: [{ type: "tool_result", content: [{ text: "Removed." }] }, {}] },
    ]);
  });

  it.each([
    ["refused", { ...approval, approve: false, reason: "Keep it." }, /not approved.*Keep it\./],
    ["not answered", question, /not approved this call\.$/],
  ] as const)("make a call that was %s one that failed", async (_, item, text) => {
    const { openai, sent } = await startClaude();
    await openai.responses.create({ model: "claude", input: [question, asked, item, question] });
    const [, call, result] = sent().messages;
    expect(call.content).toMatchObject([use]);
    expect(result.content[0]).toMatchObject({ type: "tool_result", is_error: true });
    expect(result.content[0].content).toMatchObject([{ text: expect.stringMatching(text) }]);
  });

  it("are refused if only OpenAI can make the call", async () => {
    const { upstream, openai } = await startClaude({ unsupported: "drop" });
    const body = { model: "claude", input: [question, asked, approval] };
    await expect(openai.responses.create(body)).rejects.toMatchObject({
      ...{ status: 400, param: "input[2].type" },
      message: expect.stringMatching(/an approved call that OpenAI has not made/),
    });
    expect(upstream.received).toEqual([]);
  });
});
