import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { everyFormat, startAiGateway } from "../harness/ai-gateway.ts";
import { responseProblems } from "../harness/provider-schema.ts";
import { startScripted } from "../harness/scripted.ts";
import { isStreamed } from "./table/respond.ts";
import { found, page, query, searching } from "./table/searches.ts";

const providers = {
  openai: { openai: { model: "gpt-5", api: "responses" } },
  anthropic: { anthropic: { model: "claude-1" } },
  gemini: { gemini: { model: "gemini-2.5-pro" } },
  bedrock: { bedrock: { model: "anthropic.claude-1-v1:0" } },
} as const;

type Provider = keyof typeof providers;

/** Clients of a provider whose model searches the web. */
async function startSearch(name: Provider, ai: object = {}) {
  const { whole, events } = searching[name === "bedrock" ? "anthropic" : name];
  const upstream = await startScripted((response, _count, { url, body }) => {
    const isStream = isStreamed(url, body.toString("utf8"));
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? events.join("") : JSON.stringify(whole));
  });
  const provider = providers[name];
  const { url } = await startAiGateway(upstream.host, everyFormat, { provider, ai });
  return {
    openai: new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 }),
    sent: () => JSON.parse(upstream.received.at(-1)?.body.toString("utf8") ?? "{}"),
  };
}

type ResponseTool = OpenAI.Responses.Tool;

const location = { type: "approximate" as const, city: "Rome", country: "IT" };
const search: ResponseTool = {
  type: "web_search",
  user_location: location,
  search_context_size: "low",
};
const limited: ResponseTool = { ...search, filters: { allowed_domains: ["news.test"] } };
const lookUp: ResponseTool = {
  ...{ type: "function", name: "look_up", strict: false },
  parameters: { type: "object", properties: {} },
};
const ask = { model: "m", input: "Does it rain?" };
const message = {
  model: "m",
  max_tokens: 1000,
  messages: [{ role: "user" as const, content: "Does it rain?" }],
};
const chat = {
  model: "m",
  messages: message.messages,
  web_search_options: { user_location: { ...location, approximate: { city: "Rome" } } },
};
const searchTool: Anthropic.WebSearchTool20250305 = {
  ...{ type: "web_search_20250305", name: "web_search", max_uses: 8 },
  user_location: location,
};

describe("a search of a client of responses", () => {
  it("becomes Anthropic's", async () => {
    const { openai, sent } = await startSearch("anthropic");
    const tool_choice = { type: "web_search_preview" as const };
    const tools = [lookUp, limited];
    await openai.responses.create({ ...ask, ...{ max_tool_calls: 3 }, tools, tool_choice });
    expect(sent()).toMatchObject({
      tools: [
        { name: "look_up" },
        {
          ...{ type: "web_search_20250305", name: "web_search", max_uses: 3 },
          ...{ allowed_domains: ["news.test"], user_location: location },
        },
      ],
      tool_choice: { type: "tool", name: "web_search" },
    });
  });

  it("becomes Google's", async () => {
    const { openai, sent } = await startSearch("gemini");
    await openai.responses.create({ ...ask, tools: [search] });
    expect(sent().tools).toEqual([{ googleSearch: {} }]);
  });

  it.each(["anthropic", "gemini"] as const)("is an item with its pages from %s", async (name) => {
    const { openai } = await startSearch(name);
    const response = await openai.responses.create({ ...ask, tools: [search] });
    expect(responseProblems(["openai", "Response"], response)).toEqual([]);
    const [call, said] = response.output;
    expect(call).toMatchObject({
      type: "web_search_call",
      action: { type: "search", query, sources: [{ type: "url", url: page.url }] },
    });
    const annotation = { type: "url_citation", ...page, start_index: 0, end_index: found.length };
    expect(said).toMatchObject({ content: [{ text: found, annotations: [annotation] }] });
  });

  it.each(["anthropic", "gemini"] as const)("is streamed from %s", async (name) => {
    const { openai } = await startSearch(name);
    const stream = await openai.responses.create({ ...ask, tools: [search], stream: true });
    const types: string[] = [];
    for await (const event of stream) {
      expect(responseProblems(["openai", "ResponseStreamEvent"], event)).toEqual([]);
      types.push(event.type);
      if (event.type !== "response.completed") continue;
      expect(event.response.output).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({ type: "web_search_call" }),
          expect.objectContaining({
            content: [expect.objectContaining({ annotations: [expect.objectContaining(page)] })],
          }),
        ]),
      );
    }
    expect(types).toContain("response.web_search_call.completed");
    expect(types).toContain("response.output_text.annotation.added");
  });

  it.each([
    ["bedrock", [search], /"tools\[0\].type" is not supported/],
    ["gemini", [search, lookUp], /a web search next to other tools/],
    ["gemini", [limited], /a web search of some domains only/],
    ["anthropic", [{ ...search, external_web_access: false }], /without access to the web/],
    ["anthropic", [{ type: "image_generation" }], /of type "image_generation"/],
    ["anthropic", [{ type: "file_search", vector_store_ids: [] }], /of type "file_search"/],
  ] as const)("is refused by %s where it cannot be kept: %j", async (name, tools, problem) => {
    const { openai } = await startSearch(name);
    const body = { ...ask, tools: [...tools] as ResponseTool[] };
    await expect(openai.responses.create(body)).rejects.toThrow(problem);
  });

  it("is left out and named with `unsupported: drop`", async () => {
    const { openai, sent } = await startSearch("gemini", { unsupported: "drop" });
    const hosted = [search, lookUp, { type: "image_generation" as const }];
    const { data, response } = await openai.responses
      .create({ ...ask, tools: hosted })
      .withResponse();
    expect(response.headers.get("x-llm-dropped")).toBe("tools[2], tools[0]");
    expect(sent().tools).toMatchObject([{ functionDeclarations: [{ name: "look_up" }] }]);
    expect(data.output_text).toBe(found);
  });
});

describe("a search of a client of messages", () => {
  it.each([
    ["openai", { type: "web_search", user_location: location }],
    ["gemini", { googleSearch: {} }],
  ] as const)("becomes the tool of %s, and its results come back", async (name, tool) => {
    const { anthropic, sent } = await startSearch(name);
    const response = await anthropic.messages.create({ ...message, tools: [searchTool] });
    expect(sent().tools).toEqual([tool]);
    expect(responseProblems(["anthropic", "Message"], response)).toEqual([]);
    expect(response.content).toMatchObject([
      { type: "server_tool_use", name: "web_search", input: { query } },
      { type: "web_search_tool_result", content: [{ url: page.url }] },
      { type: "text", text: found, citations: [page] },
    ]);
  });

  it("can be forced, and is limited, at OpenAI", async () => {
    const { anthropic, sent } = await startSearch("openai");
    const tool_choice = { type: "tool" as const, name: "web_search" };
    await anthropic.messages.create({ ...message, tools: [searchTool], tool_choice });
    expect(sent()).toMatchObject({ tool_choice: { mode: "required" }, max_tool_calls: 8 });
    expect(sent().include).toContain("web_search_call.action.sources");
  });

  it.each(["openai", "gemini"] as const)("is streamed from %s", async (name) => {
    const { anthropic } = await startSearch(name);
    const stream = anthropic.messages.stream({ ...message, tools: [searchTool] });
    const { content } = await stream.finalMessage();
    const [result] = content.filter(({ type }) => type === "web_search_tool_result");
    expect(result).toMatchObject({ content: [{ url: page.url }] });
    const [said] = content.filter(({ type }) => type === "text");
    expect(said).toMatchObject({ text: found, citations: [page] });
  });

  it("is part of the text in a later turn", async () => {
    const { anthropic, sent } = await startSearch("openai");
    const first = await anthropic.messages.create({ ...message, tools: [searchTool] });
    const messages: Anthropic.MessageParam[] = [
      ...message.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: "Sure?" },
    ];
    await anthropic.messages.create({ ...message, messages, tools: [searchTool] });
    expect(sent().input).toMatchObject([
      { role: "user" },
      { role: "assistant", content: found },
      { role: "user", content: "Sure?" },
    ]);
  });
});

describe("a search of a client of chat completions", () => {
  it.each(["openai", "anthropic"] as const)("has annotations from %s", async (name) => {
    const { openai, sent } = await startSearch(name);
    const { choices } = await openai.chat.completions.create(chat);
    expect(sent().tools).toMatchObject([{ user_location: { type: "approximate", city: "Rome" } }]);
    const url_citation = { ...page, start_index: 0, end_index: found.length };
    expect(choices[0]?.message).toMatchObject({
      content: found,
      annotations: [{ type: "url_citation", url_citation }],
    });
  });

  it.each(["openai", "anthropic"] as const)("has annotations in a stream of %s", async (name) => {
    const { openai } = await startSearch(name);
    const stream = await openai.chat.completions.create({ ...chat, stream: true });
    const deltas: unknown[] = [];
    for await (const { choices } of stream) deltas.push(choices[0]?.delta);
    expect(deltas).toContainEqual({
      annotations: [expect.objectContaining({ url_citation: expect.objectContaining(page) })],
    });
  });
});
