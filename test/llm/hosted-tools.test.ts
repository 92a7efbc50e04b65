import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI, Outcome } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { everyFormat, startAiGateway } from "../harness/ai-gateway.ts";
import { responseProblems } from "../harness/provider-schema.ts";
import { startScripted } from "../harness/scripted.ts";
import { called, fetchedUrl, hosting, ran } from "./table/hosted.ts";
import { isStreamed } from "./table/respond.ts";

const providers = {
  openai: { openai: { model: "gpt-5", api: "responses" } },
  completions: { openai: { model: "gpt-5", api: "completions" } },
  anthropic: { anthropic: { model: "claude-1" } },
  gemini: { gemini: { model: "gemini-2.5-pro" } },
  bedrock: { bedrock: { model: "anthropic.claude-1-v1:0" } },
  vertex: {
    vertex: { model: "claude-1", projectId: "p", region: "us-east5" },
  },
} as const;

type Provider = keyof typeof providers;

/**
 * Clients of a provider whose model uses tools of the provider. `takes`: requests that it gets; the schema of Anthropic's
 * API does not have MCP servers, which are a beta.
 */
async function startHosting(
  name: Provider,
  ai: object = {},
  takes: "valid" | "anything" = "valid",
) {
  const { whole, events } = hosting[name === "openai" || name === "gemini" ? name : "anthropic"];
  const upstream = await startScripted((response, _count, { url, body }) => {
    const isStream = isStreamed(url, body.toString("utf8"));
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? events.join("") : JSON.stringify(whole));
  }, takes);
  const { url } = await startAiGateway(upstream.host, everyFormat, {
    provider: providers[name],
    ai,
  });
  return {
    openai: new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}"),
    headers: () => upstream.received.at(-1)?.headers ?? {},
  };
}

type ResponseTool = OpenAI.Responses.Tool;
type MessageTool = Anthropic.Beta.Messages.BetaToolUnion;

const interpreter: ResponseTool = { type: "code_interpreter", container: { type: "auto" } };
const connector: ResponseTool = {
  ...{ type: "mcp", server_label: "docs", server_url: "https://docs.test/mcp" },
  ...{ require_approval: "never", authorization: "mcp-token" },
};
const input = "What is 6 * 7?";
const ask = { model: "m", input };
const execution: MessageTool = { type: "code_execution_20250825", name: "code_execution" };
const fetching: MessageTool = { type: "web_fetch_20250910", name: "web_fetch", max_uses: 2 };
const server = {
  ...{ type: "url" as const, name: "docs", url: "https://docs.test/mcp" },
  authorization_token: "mcp-token",
};
const message = {
  model: "m",
  max_tokens: 1000,
  messages: [{ role: "user" as const, content: input }],
};

describe("tools of a client of responses", () => {
  it("become Anthropic's, with the header that MCP servers require", async () => {
    const { openai, sent, headers } = await startHosting("anthropic", {}, "anything");
    await openai.responses.create({ ...ask, tools: [interpreter, connector] });
    expect(sent()).toMatchObject({
      tools: [
        { type: "code_execution_20250825", name: "code_execution" },
        { type: "mcp_toolset", mcp_server_name: "docs" },
      ],
      mcp_servers: [server],
    });
    expect(headers()["anthropic-beta"]).toBe("mcp-client-2025-11-20");
  });

  it("are limited to the allowed ones at Anthropic", async () => {
    const { openai, sent } = await startHosting("anthropic", {}, "anything");
    await openai.responses.create({ ...ask, tools: [{ ...connector, allowed_tools: ["find"] }] });
    const [toolset] = sent().tools;
    expect(toolset).toMatchObject({
      default_config: { enabled: false },
      configs: { find: { enabled: true } },
    });
  });

  it("send no header of MCP servers without any", async () => {
    const { openai, headers } = await startHosting("anthropic");
    await openai.responses.create({ ...ask, tools: [interpreter] });
    expect(headers()).not.toHaveProperty("anthropic-beta");
  });

  it("become Google's code execution", async () => {
    const { openai, sent } = await startHosting("gemini");
    await openai.responses.create({ ...ask, tools: [interpreter] });
    expect(sent().tools).toEqual([{ codeExecution: {} }]);
  });

  const codeItem = {
    ...{ type: "code_interpreter_call", status: "completed", code: ran.code },
    outputs: [{ type: "logs", logs: ran.output }],
  };
  const mcpItem = {
    ...{ type: "mcp_call", server_label: called.server, name: called.name },
    ...{ arguments: JSON.stringify(called.input), output: called.output, error: null },
  };

  it.each([
    ["anthropic", [codeItem, mcpItem, { type: "message" }]],
    ["gemini", [codeItem, { type: "message" }]],
  ] as const)("return their calls from %s", async (name, items) => {
    const { openai } = await startHosting(name);
    const response = await openai.responses.create({ ...ask, tools: [interpreter] });
    expect(responseProblems(["openai", "Response"], response)).toEqual([]);
    expect(response.output).toMatchObject(items);
    expect(response.output_text).toBe(ran.said);
  });

  it.each([
    ["anthropic", [codeItem, mcpItem, { type: "message" }]],
    ["gemini", [codeItem, { type: "message" }]],
  ] as const)("return their calls in a stream of %s", async (name, items) => {
    const { openai } = await startHosting(name);
    const tools = [interpreter];
    const stream = await openai.responses.create({ ...ask, tools, stream: true });
    const types: string[] = [];
    for await (const event of stream) {
      expect(responseProblems(["openai", "ResponseStreamEvent"], event)).toEqual([]);
      types.push(event.type);
      if (event.type === "response.completed") expect(event.response.output).toMatchObject(items);
    }
    expect(types).toContain("response.code_interpreter_call_code.done");
    expect(types.includes("response.mcp_call.completed")).toBe(name === "anthropic");
  });

  it.each([
    ["bedrock", interpreter, /"tools\[0\].type" is not supported/],
    ["bedrock", connector, /"tools\[0\].type" is not supported/],
    ["vertex", interpreter, /"tools\[0\].type" is not supported/],
    ["vertex", connector, /"tools\[0\].type" is not supported/],
    ["completions", interpreter, /"tools\[0\].type" is not supported/],
    ["gemini", connector, /"tools\[0\].type" is not supported/],
    ["anthropic", { ...interpreter, container: "cntr_1" }, /a container of OpenAI/],
    ["anthropic", { ...connector, require_approval: undefined }, /calls require approval/],
    ["anthropic", { ...connector, server_url: undefined }, /without server_url/],
    ["anthropic", { ...connector, headers: { "x-a": "b" } }, /other than a bearer token/],
    ["anthropic", { ...connector, allowed_tools: { read_only: true } }, /by read_only/],
  ] as const)("are refused by %s where they cannot be kept: %j", async (name, tool, problem) => {
    const { openai } = await startHosting(name);
    const body = { ...ask, tools: [tool] as ResponseTool[] };
    await expect(openai.responses.create(body)).rejects.toThrow(problem);
  });

  it("are left out and named with `unsupported: drop`", async () => {
    const { openai, sent } = await startHosting("bedrock", { unsupported: "drop" });
    const tools = [interpreter, connector, { ...connector, require_approval: "always" as const }];
    const request = openai.responses.create({ ...ask, tools }).asResponse();
    const { headers } = await request.catch((error: InstanceType<typeof OpenAI.APIError>) => error);
    expect(new Headers(headers).get("x-llm-dropped")).toBe("tools[2], tools[0], tools[1]");
    expect(sent()).not.toHaveProperty("toolConfig");
  });
});

describe("tools of a client of messages", () => {
  it("become OpenAI's", async () => {
    const { anthropic, sent, headers } = await startHosting("openai");
    await anthropic.beta.messages.create({
      ...message,
      tools: [execution, { type: "mcp_toolset", mcp_server_name: "docs" }],
      mcp_servers: [server],
      betas: ["mcp-client-2025-11-20"],
    });
    expect(sent().tools).toEqual([
      { type: "code_interpreter", container: { type: "auto" } },
      {
        ...{ type: "mcp", server_label: "docs", server_url: "https://docs.test/mcp" },
        ...{ authorization: "mcp-token", require_approval: "never" },
      },
    ]);
    expect(sent().include).toContain("code_interpreter_call.outputs");
    expect(headers()).not.toHaveProperty("anthropic-beta");
  });

  it.each([
    [
      "the older form of MCP servers",
      { tool_configuration: { enabled: true, allowed_tools: ["find"] } },
      undefined,
    ],
    [
      "a toolset",
      {},
      { default_config: { enabled: false }, configs: { find: { enabled: true }, other: {} } },
    ],
  ] as const)("are limited to the allowed ones at OpenAI: %s", async (_, own, configured) => {
    const { anthropic, sent } = await startHosting("openai");
    const toolset = { type: "mcp_toolset" as const, mcp_server_name: "docs", ...configured };
    await anthropic.beta.messages.create({
      ...message,
      tools: configured === undefined ? [] : [toolset],
      mcp_servers: [{ ...server, ...own, tool_configuration: toolConfiguration(own) }],
    });
    expect(sent().tools).toMatchObject([{ type: "mcp", allowed_tools: ["find"] }]);
  });

  it("become Google's", async () => {
    const { anthropic, sent } = await startHosting("gemini");
    await anthropic.beta.messages.create({ ...message, tools: [execution, fetching] });
    expect(sent().tools).toEqual([{ urlContext: {} }, { codeExecution: {} }]);
  });

  const codeBlocks = [
    { type: "server_tool_use", name: "code_execution", input: { code: ran.code } },
    {
      type: "code_execution_tool_result",
      content: { type: "code_execution_result", stdout: ran.output, return_code: 0 },
    },
  ];
  const mcpBlocks = [
    { type: "mcp_tool_use", server_name: called.server, name: called.name, input: called.input },
    { type: "mcp_tool_result", content: [{ text: called.output }], is_error: false },
  ];
  const fetchBlocks = [
    { type: "server_tool_use", name: "web_fetch", input: { url: fetchedUrl } },
    { type: "web_fetch_tool_result", content: { type: "web_fetch_result", url: fetchedUrl } },
  ];
  const text = { type: "text", text: ran.said };

  it.each([
    ["openai", [...codeBlocks, ...mcpBlocks, text], [execution]],
    ["gemini", [...fetchBlocks, ...codeBlocks, text], [execution, fetching]],
  ] as const)("return their calls from %s", async (name, blocks, tools) => {
    const { anthropic } = await startHosting(name);
    const response = await anthropic.beta.messages.create({ ...message, tools: [...tools] });
    // Calls of MCP servers are a beta, which the schema does not have.
    if (name === "gemini") expect(responseProblems(["anthropic", "Message"], response)).toEqual([]);
    expect(response.content).toMatchObject(blocks);
  });

  it.each([
    ["openai", [...codeBlocks, ...mcpBlocks, text]],
    ["gemini", [...codeBlocks, text, ...fetchBlocks]],
  ] as const)("return their calls in a stream of %s", async (name, blocks) => {
    const { anthropic } = await startHosting(name);
    const stream = anthropic.beta.messages.stream({ ...message, tools: [execution] });
    const { content } = await stream.finalMessage();
    expect(content).toMatchObject(blocks);
  });

  it("have their results in later turns", async () => {
    const { anthropic, sent } = await startHosting("openai");
    const tools = [execution];
    const first = await anthropic.beta.messages.create({ ...message, tools });
    const messages: Anthropic.Beta.Messages.BetaMessageParam[] = [
      ...message.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: "Sure?" },
    ];
    await anthropic.beta.messages.create({ ...message, messages, tools });
    expect(sent().input).toMatchObject([
      { role: "user" },
      {
        type: "function_call",
        name: "code_execution",
        arguments: JSON.stringify({ code: ran.code }),
      },
      { type: "function_call_output" },
      { type: "function_call", name: "docs__find" },
      { type: "function_call_output", output: called.output },
      { role: "assistant", content: ran.said },
      { role: "user", content: "Sure?" },
    ]);
  });

  it.each([
    ["openai", { tools: [fetching] }, /"tools\[0\].type" is not supported/],
    ["bedrock", { tools: [execution] }, /"tools\[0\].type" is not supported/],
    ["bedrock", { mcp_servers: [server] }, /^"mcp_servers" is not supported/],
    ["gemini", { mcp_servers: [server] }, /^"mcp_servers" is not supported/],
    [
      "gemini",
      { tools: [execution, { name: "look", input_schema: { type: "object" } }] },
      /next to/,
    ],
    ["gemini", { tools: [{ ...fetching, allowed_domains: ["a.test"] }] }, /of some domains only/],
    [
      "openai",
      { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] },
      /unknown MCP server "x"/,
    ],
    [
      "openai",
      { tools: [execution], tool_choice: { type: "tool", name: "code_execution" } },
      /a choice of a tool that the provider runs/,
    ],
  ] as const)("are refused by %s where they cannot be kept: %j", async (name, own, problem) => {
    const { anthropic } = await startHosting(name);
    const body = { ...message, ...own };
    // @ts-expect-error The lists are constants.
    const request = anthropic.beta.messages.create(body);
    await expect(request).rejects.toMatchObject({
      ...{ status: 400, error: { error: { message: expect.stringMatching(problem) } } },
    });
  });

  it("are left out and named with `unsupported: drop`", async () => {
    const { anthropic, sent } = await startHosting("bedrock", { unsupported: "drop" });
    const toolset = { type: "mcp_toolset" as const, mcp_server_name: "docs" };
    const failure = await anthropic.beta.messages
      .create({ ...message, tools: [execution, toolset], mcp_servers: [server] })
      .asResponse()
      .catch((error: InstanceType<typeof Anthropic.APIError>) => error);
    const dropped = new Headers(failure.headers).get("x-llm-dropped")?.split(", ").toSorted();
    expect(dropped).toEqual(["mcp_servers", "tools[0]", "tools[1]"]);
    expect(sent()).not.toHaveProperty("toolConfig");
  });
});

/** The older form of what may be called on a server, in the SDK's type. */
function toolConfiguration(
  own: object,
): Anthropic.Beta.Messages.BetaRequestMCPServerToolConfiguration | null {
  return "tool_configuration" in own ? { enabled: true, allowed_tools: ["find"] } : null;
}

describe("tools of a client of Google", () => {
  it.each([
    ["anthropic", ["code_execution_20250825", "web_fetch_20250910"]],
    ["openai", ["code_interpreter"]],
  ] as const)("become those of %s, and their calls come back", async (name, types) => {
    const { google, sent } = await startHosting(name);
    const tools =
      name === "openai" ? [{ codeExecution: {} }] : [{ codeExecution: {} }, { urlContext: {} }];
    const { candidates } = await google.models.generateContent({
      ...{ model: "m", contents: input },
      config: { tools },
    });
    expect(sent().tools.map(({ type }: { type: string }) => type)).toEqual(types);
    const [candidate] = candidates ?? [];
    expect(candidate?.content?.parts).toMatchObject([
      { executableCode: { code: ran.code } },
      { codeExecutionResult: { outcome: Outcome.OUTCOME_OK, output: ran.output } },
      { text: ran.said },
    ]);
    const fetched = candidate?.urlContextMetadata?.urlMetadata?.map(
      ({ retrievedUrl }) => retrievedUrl,
    );
    expect(fetched).toEqual(name === "anthropic" ? [fetchedUrl] : undefined);
  });

  it("return their calls in a stream", async () => {
    const { google } = await startHosting("anthropic");
    const stream = await google.models.generateContentStream({
      ...{ model: "m", contents: input },
      config: { tools: [{ codeExecution: {} }, { urlContext: {} }] },
    });
    const codes: (string | undefined)[] = [];
    const pages: (string | undefined)[] = [];
    for await (const { candidates } of stream) {
      const [candidate] = candidates ?? [];
      for (const part of candidate?.content?.parts ?? []) {
        if (part.executableCode !== undefined) codes.push(part.executableCode.code);
      }
      for (const each of candidate?.urlContextMetadata?.urlMetadata ?? [])
        pages.push(each.retrievedUrl);
    }
    expect({ codes, pages }).toEqual({ codes: [ran.code], pages: [fetchedUrl] });
  });

  const program: Content = {
    role: "model",
    parts: [
      { executableCode: { code: ran.code } },
      { codeExecutionResult: { outcome: Outcome.OUTCOME_OK, output: ran.output } },
      { text: ran.said },
    ],
  };

  it("have their results in later turns", async () => {
    const { google, sent } = await startHosting("anthropic");
    const user: Content = { role: "user", parts: [{ text: input }] };
    await google.models.generateContent({ model: "m", contents: [user, program, user] });
    expect(sent().messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool_use", input: { code: ran.code } }] },
      { role: "user", content: [{ type: "tool_result", content: [{ text: ran.output }] }] },
      { role: "assistant", content: [{ text: ran.said }] },
      { role: "user", content: [{ text: input }] },
    ]);
  });

  it.each([
    [[{ role: "model", parts: program.parts?.slice(0, 1) }], /a program without its output/],
    [[{ role: "model", parts: program.parts?.slice(1) }], /the output of a program before it/],
  ])("are refused with half a program: %j", async (contents, problem) => {
    const { google } = await startHosting("anthropic");
    await expect(
      google.models.generateContent({ model: "m", contents: contents as Content[] }),
    ).rejects.toThrow(problem);
  });
});
