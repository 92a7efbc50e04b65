import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  tool as toolOf,
} from "ai";
import { beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { EndlessUpstream } from "./table/abandoned.ts";
import { calls, outputSchema, script, tool } from "./table/features.ts";
import { type Pair, pairsOfFormats, startPairs } from "./table/pairs-gateway.ts";

const upstream = new EndlessUpstream();
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startPairs(await startScripted(upstream.respond));
}, 300_000);

/** A model of the SDK that speaks the format of a pair. */
function modelOf({ client, provider, prefix }: Pair): LanguageModel {
  const settings = { apiKey: "client", baseURL: `${gateway.url}${prefix}/v1` };
  if (client === "messages") return createAnthropic(settings)(provider.model);
  const openai = createOpenAI(settings);
  return client === "responses" ? openai.responses(provider.model) : openai.chat(provider.model);
}

function asked(pair: Pair, prompt: string) {
  // Nothing is kept at the provider: what is said later cannot refer to it.
  const providerOptions = { openai: { store: false } };
  return { model: modelOf(pair), prompt, maxRetries: 0, maxOutputTokens: 4000, providerOptions };
}

it.each(pairsOfFormats)(
  "Vercel's SDK gets a text by %s of %s, whole and streamed",
  async (_c, _p, pair) => {
    const whole = await generateText(asked(pair, "[text]"));
    expect(whole).toMatchObject({ text: script.text, finishReason: "stop" });
    expect(whole.usage).toMatchObject({ outputTokens: 7 });
    const stream = streamText(asked(pair, "[text]"));
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(script.text);
    expect(await stream.finishReason).toBe("stop");
  },
);

it.each(pairsOfFormats)("Vercel's SDK runs tools in a loop by %s of %s", async (_c, _p, pair) => {
  const seen: unknown[] = [];
  const get_weather = toolOf({
    description: tool.description,
    inputSchema: jsonSchema<{ city: string }>(tool.schema),
    execute: async (input) => {
      seen.push(input);
      return script.results[input.city === "Rome" ? 1 : 0];
    },
  });
  const options = { ...asked(pair, "[parallel tools]"), tools: { get_weather } };
  const whole = await generateText({ ...options, stopWhen: stepCountIs(2) });
  expect(whole.text).toBe(script.text);
  const streamed = streamText({ ...options, stopWhen: stepCountIs(2) });
  expect(await streamed.text).toBe(script.text);
  const inputs = calls.map(({ input }) => input);
  expect(seen).toEqual([...inputs, ...inputs]);
});

it.each(pairsOfFormats)("Vercel's SDK gets an object by %s of %s", async (_c, _p, pair) => {
  const schema = jsonSchema<{ degrees: number }>(outputSchema);
  const { output } = await generateText({
    ...asked(pair, "[json schema]"),
    output: Output.object({ schema }),
  });
  expect(output).toEqual({ degrees: 18 });
});

it.each(pairsOfFormats)("Vercel's SDK raises what went wrong by %s of %s", async (_c, _p, pair) => {
  const limited = await generateText(asked(pair, "[error 429]")).catch((error) => error);
  expect(APICallError.isInstance(limited)).toBe(true);
  expect(limited).toMatchObject({ statusCode: 429, isRetryable: true, message: script.fault });
  expect(limited.responseHeaders).toMatchObject({ "retry-after": "7" });
  const errors: unknown[] = [];
  const onError = ({ error }: { readonly error: unknown }): void => void errors.push(error);
  await streamText({ ...asked(pair, "[error after 200]"), onError }).consumeStream();
  expect(JSON.stringify(errors)).toContain(script.fault);
});

it.each(pairsOfFormats)(
  "what Vercel's SDK aborts is over at the provider by %s of %s",
  async (_c, _p, pair) => {
    const prompt = `[endless ${pair.prefix}]`;
    const abort = new AbortController();
    const stream = streamText({ ...asked(pair, prompt), abortSignal: abort.signal });
    for await (const piece of stream.textStream) if (piece !== "") abort.abort();
    await eventually(() => upstream.abandoned.has(prompt) || null, "the end of the request");
  },
);
