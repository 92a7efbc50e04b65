import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { EndlessUpstream } from "./table/abandoned.ts";
import { outputSchema, script, tool } from "./table/features.ts";
import { type Pair, pairsOfFormats, startPairs } from "./table/pairs-gateway.ts";

const upstream = new EndlessUpstream();
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startPairs(await startScripted(upstream.respond));
}, 300_000);

/** A model of LangChain that speaks the format of a pair. */
function modelOf({ client, provider, prefix }: Pair): ChatAnthropic | ChatOpenAI {
  const url = `${gateway.url}${prefix}`;
  const settings = { apiKey: "client", model: provider.model, maxTokens: 4000, maxRetries: 0 };
  if (client === "messages") return new ChatAnthropic({ ...settings, anthropicApiUrl: url });
  return new ChatOpenAI({
    ...settings,
    configuration: { baseURL: `${url}/v1` },
    useResponsesApi: client === "responses",
    zdrEnabled: true,
  });
}

it.each(pairsOfFormats)(
  "LangChain gets a text by %s of %s, whole and streamed",
  async (_c, _p, pair) => {
    const whole = await modelOf(pair).invoke("[text]");
    expect(whole.text).toBe(script.text);
    expect(whole.usage_metadata).toMatchObject({ output_tokens: 7 });
    let streamed = "";
    for await (const piece of await modelOf(pair).stream("[text]")) streamed += piece.text;
    expect(streamed).toBe(script.text);
  },
);

it.each(pairsOfFormats)(
  "LangChain gets calls by %s of %s, and sends results",
  async (_c, _p, pair) => {
    const model = modelOf(pair);
    const tools = [
      {
        type: "function" as const,
        function: { name: tool.name, description: tool.description, parameters: tool.schema },
      },
    ];
    const prompt = { role: "user", content: "[parallel tools]" };
    const called = await model.invoke([prompt], { tools });
    expect(called.tool_calls).toMatchObject([
      { name: "get_weather", args: { city: "Zürich" } },
      { name: "get_weather", args: { city: "Rome" } },
    ]);
    const results = (called.tool_calls ?? []).map(({ id = "" }, index) => ({
      role: "tool",
      tool_call_id: id,
      content: script.results[index] ?? "",
    }));
    const last = await model.invoke([prompt, called, ...results], { tools });
    expect(last.text).toBe(script.text);
  },
);

it.each(pairsOfFormats)("LangChain gets an object by %s of %s", async (_c, _p, pair) => {
  const model = modelOf(pair);
  const structured = model.withStructuredOutput(
    { title: "weather", ...outputSchema },
    { method: "jsonSchema" },
  );
  expect(await structured.invoke("[json schema]")).toEqual({ degrees: 18 });
});

it.each(pairsOfFormats)("LangChain raises what went wrong by %s of %s", async (_c, _p, pair) => {
  const limited = await modelOf(pair)
    .invoke("[error 429]")
    .catch((error: unknown) => error);
  expect(limited).toMatchObject({ status: 429 });
  const read = async (): Promise<void> => {
    for await (const _ of await modelOf(pair).stream("[error after 200]"));
  };
  await expect(read()).rejects.toThrow(script.fault);
});

it.each(pairsOfFormats)(
  "what LangChain aborts is over at the provider by %s of %s",
  async (_c, _p, pair) => {
    const prompt = `[endless ${pair.prefix}]`;
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      const stream = await modelOf(pair).stream(prompt, { signal: abort.signal });
      for await (const piece of stream) if (piece.text !== "") abort.abort();
    };
    await expect(read()).rejects.toThrow(/abort/i);
    await eventually(() => upstream.abandoned.has(prompt) || null, "the end of the request");
  },
);
