import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { runTests } from "../../compiler/inspect/tests/run-tests.ts";

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";

const SEARCHES = { web_search_options: {} };

/** Providers with `params.api`, requests of clients, and the path that they get at the provider. */
const cases = [
  ["openAI", "a chat", CHAT, { model: "gpt-5" }, CHAT],
  ["openAI", "tools for an older model", CHAT, { model: "gpt-5", tools: 1 }, CHAT],
  ["openAI", "tools for a current model", CHAT, { model: "gpt-5.6-sol", tools: 1 }, RESPONSES],
  [
    "openAI",
    "tools with an effort",
    CHAT,
    { model: "gpt-5.4", tools: 1, reasoning_effort: "low" },
    RESPONSES,
  ],
  [
    "openAI",
    "tools without reasoning",
    CHAT,
    { model: "gpt-5.4", tools: 1, reasoning_effort: "none" },
    CHAT,
  ],
  ["openAI", "no tools", CHAT, { model: "gpt-5.4", tools: 0, reasoning_effort: "low" }, CHAT],
  ["openAI", "a model without chats", CHAT, { model: "gpt-5.1-codex" }, RESPONSES],
  ["openAI", "a message for a model that reasons", MESSAGES, { model: "gpt-5" }, RESPONSES],
  ["openAI", "a message for another model", MESSAGES, { model: "gpt-4o" }, CHAT],
  ["openAI", "a search by another model", MESSAGES, { model: "gpt-4o", search: 1 }, RESPONSES],
  ["openAI", "a search by a model of", CHAT, { model: "gpt-5", ...SEARCHES }, RESPONSES],
  [
    "openAI",
    "a search by a searching model of",
    CHAT,
    { model: "gpt-5-search-api", ...SEARCHES },
    CHAT,
  ],
  ["gemini", "a chat", CHAT, { model: "gemini-3-pro" }, "/v1beta/openai/chat/completions"],
  [
    "gemini",
    "a search",
    CHAT,
    { model: "gemini-3-pro", ...SEARCHES },
    "/v1beta/models/gemini-3-pro:generateContent",
  ],
  ["openAI", "a response", RESPONSES, { model: "gpt-4o" }, RESPONSES],
  ["vllm", "a message", MESSAGES, { model: "m" }, CHAT],
  ["vllm", "a response", RESPONSES, { model: "m" }, RESPONSES],
  ["mistral", "a response", RESPONSES, { model: "m" }, CHAT],
  ["vllm, responses", "a message", MESSAGES, { model: "m" }, RESPONSES],
  ["vllm, responses", "a chat", CHAT, { model: "m" }, RESPONSES],
  ["vllm, completions", "a response", RESPONSES, { model: "m" }, CHAT],
  ["vllm, messages", "a chat", CHAT, { model: "m" }, MESSAGES],
  ["vllm, messages", "a response", RESPONSES, { model: "m" }, MESSAGES],
] as const;

describe("each request goes to an API of the server that takes it", () => {
  it.each(cases)("%s gets %s of %s %j at %s", async (server, _, from, body, to) => {
    expect(await mistakesOf(server, from, body, to)).toEqual([]);
  });
});

/** Returns the mistakes of a request whose path at the provider differs from `path`. */
async function mistakesOf(
  server: string,
  from: string,
  { tools, search, ...body }: Asked,
  path: string,
): Promise<readonly string[]> {
  const [provider, api = "auto"] = server.split(", ");
  const gateway = {
    llm: {
      port: 4000,
      models: [
        { name: "*", provider, params: { ...(api !== "auto" && { api }), apiKey: "${KEY:-k}" } },
      ],
    },
  };
  const sent = JSON.stringify({
    ...body,
    ...(from === RESPONSES ? { input: "Hello" } : { messages: [{ role: "user", content: "a" }] }),
    ...(from === MESSAGES && { max_tokens: 9 }),
    ...(tools !== undefined && { tools: Array(tools).fill(TOOL) }),
    ...(search !== undefined && { tools: Array(search).fill(SEARCH) }),
  });
  const tests = [
    {
      name: "a",
      request: `POST http://localhost:4000${from}`,
      body: sent,
      headers: { "content-type": "application/json" },
      expect: { allowed: true, backend: { path } },
    },
  ];
  const host = memoryHost({
    "gateway.yaml": JSON.stringify(gateway),
    "a.test.yaml": JSON.stringify({ tests }),
  });
  const checked = checkInput(["gateway.yaml"], host, false);
  const { verdicts, mistakes } = await runTests(["a.test.yaml"], checked, host);
  const all = [...mistakes, ...verdicts.flatMap(({ diagnostics }) => diagnostics)];
  return all.map((each) => JSON.stringify(each));
}

/** Model of a request, and numbers of its tools and searches. */
interface Asked {
  readonly model: string;
  readonly tools?: number;
  readonly search?: number;
}

const SEARCH = { type: "web_search_20250305", name: "web_search" };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };

it("a choice of an API that changes nothing is a mistake", () => {
  const text = `llm:
  models:
    - name: a
      provider: anthropic
      params: { api: responses, apiKey: "\${KEY}" }
    - name: b
      provider: openAI
      params: { api: chat, apiKey: "\${KEY}" }
`;
  const { findings } = checkInput(["gateway.yaml"], memoryHost({ "gateway.yaml": text }), false);
  expect(
    findings.map(({ code, message, location: at }) => [code, at.line, at.column, message]),
  ).toEqual([
    [
      ...["broken-rule", 5, 15],
      '"api" requires a provider that has several APIs: openai, azureopenai or a known server',
    ],
    ["unknown-value", 8, 22, '"api" can\'t be "chat"'],
  ]);
});
