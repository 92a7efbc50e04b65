import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { Phoenix, type PhoenixSpan } from "../harness/phoenix.ts";
import { startScripted } from "../harness/scripted.ts";
import { asks } from "../llm/ask.ts";
import { complete } from "../llm/llm-upstream.ts";

let phoenix: Phoenix;

beforeAll(async () => {
  phoenix = await Phoenix.start();
});

it("Phoenix shows the calls of every client format as conversations, and adds up their tokens and costs", async () => {
  const upstream = await startScripted((response, _, request) => complete(response, request));
  const routes = {
    "/v1/chat/completions": "completions",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
    ":generateContent": "generateContent",
    ":streamGenerateContent": "generateContent",
    "/converse": "converse",
    "/converse-stream": "converse",
  };
  const provider = { openAI: { api: "completions" } };
  const tracing = { host: phoenix.collector, randomSampling: true, capture: {} };
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing } },
    listeners: [
      {
        routes: [
          {
            policies: { ai: { routes } },
            backends: [{ ai: { provider, hostOverride: upstream.host } }],
          },
        ],
      },
    ],
  });
  for (const ask of Object.values(asks)) await ask(gateway.url, "Who is there?");
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  await client.chat.completions.create({
    model: "gpt-4o-mini",
    temperature: 0.5,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is the weather?" },
      { role: "assistant", tool_calls: [weather] },
      { role: "tool", tool_call_id: "c1", content: "Rain." },
    ],
  });
  expect(await gateway.stop()).toBe(0);
  const calls = Object.keys(asks).length + 1;
  const spans = await phoenix.spans(
    (found) => found.length === 2 * calls && found.some((span) => costOf(span) !== undefined),
  );
  // The call of a model is a span below that of its request, and only the latter has tokens.
  const tokens = spans.map(
    ({ tokenCountPrompt, tokenCountCompletion }) =>
      (tokenCountPrompt ?? 0) + (tokenCountCompletion ?? 0),
  );
  expect(tokens.reduce((sum, each) => sum + each)).toBe(25 * calls);
  expect(new Set(spans.map(({ spanKind }) => spanKind))).toEqual(new Set(["llm"]));
  const requests = spans
    .filter(({ parentId }) => parentId === null)
    .map((span) => ({ span, llm: JSON.parse(span.attributes).llm }));
  const simple = requests.filter(({ llm }) => llm.model_name === "m");
  expect(simple).toHaveLength(calls - 1);
  for (const { span, llm } of simple) {
    expect(span).toMatchObject({ tokenCountPrompt: 20, tokenCountCompletion: 5 });
    expect(llm.input_messages).toEqual([{ message: { role: "user", content: "Who is there?" } }]);
    expect(llm.output_messages).toMatchObject([
      { message: { role: "assistant", content: expect.stringMatching(/^Hi( there)?\.$/) } },
    ]);
  }
  const last = requests.find(({ llm }) => llm.model_name === "gpt-4o-mini");
  expect(last?.llm.input_messages).toMatchObject([
    { message: { role: "system", content: "Be brief." } },
    { message: { role: "user", content: "What is the weather?" } },
    {
      message: {
        role: "assistant",
        tool_calls: [{ tool_call: { function: { name: "weather" } } }],
      },
    },
    { message: { role: "tool", tool_call_id: "c1", content: "Rain." } },
  ]);
  expect(JSON.parse(last?.llm.invocation_parameters)).toMatchObject({ temperature: 0.5 });
  // By Phoenix's prices and by those of gwc.
  const { gen_ai: own } = JSON.parse(last?.span.attributes ?? "{}");
  expect(last && costOf(last.span)).toBeCloseTo(own.usage.cost, 9);
  expect(spans.filter((span) => costOf(span) !== undefined)).toHaveLength(1);
});

function costOf({ costSummary }: PhoenixSpan): number | undefined {
  return costSummary?.total.cost ?? undefined;
}

const weather = {
  id: "c1",
  type: "function",
  function: { name: "weather", arguments: '{"city":"Bonn"}' },
} as const;
