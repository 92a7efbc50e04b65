import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import type { ClientFormat, UpstreamFormat } from "../../runtime/llm/chat/formats.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { responsesUpstream } from "../../runtime/llm/formats/responses/upstream.ts";
import { type ProviderSchema, requestProblems } from "../harness/provider-schema.ts";
import { sentFor } from "./sent-for.ts";
import { outputSchema, pixel, tool } from "./table/features.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 300 : 3_000;

/** The APIs of providers, the name of a model, and the providers' own documents. */
const upstreams: readonly (readonly [string, UpstreamFormat, string, ProviderSchema])[] = [
  ["OpenAI", completionsUpstream, "gpt-5", ["openai", "CreateChatCompletionRequest"]],
  ["OpenAI, Responses", responsesUpstream, "gpt-5", ["openai", "CreateResponse"]],
  ["Anthropic", messagesUpstream, "claude-1", ["anthropic", "CreateMessageParams"]],
  ["Bedrock, Claude", converseUpstream, "anthropic.claude-1-v1:0", ["bedrock", "ConverseRequest"]],
  ["Bedrock, Nova", converseUpstream, "amazon.nova-pro-v1:0", ["bedrock", "ConverseRequest"]],
  ["Gemini", generateContentUpstream, "gemini-3-pro", ["gemini", "GenerateContentRequest"]],
  [
    "Vertex AI",
    generateContentUpstream,
    "gemini-2.5-pro",
    ["vertexai", "GoogleCloudAiplatformV1GenerateContentRequest"],
  ],
];

const text = fc.oneof(fc.string(), fc.constantFrom("", " ", "Grüße 👋🏽", "a\nb"));
const id = fc.oneof(fc.constantFrom("call_1", "toolu_2"), fc.string({ minLength: 1 }));
const name = fc.constantFrom("get_weather", "a-b_c", "mcp__server__tool");
const input = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const number = (max: number) => fc.double({ min: 0, max, noNaN: true });
const count = fc.integer({ min: 1, max: 20_000 });
const texts = fc.array(fc.string({ minLength: 1 }), { maxLength: 4 });

/** An object with any of the fields. */
function some<Shape extends object>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) {
  return fc.record(shape, { requiredKeys: [] });
}

const completions: fc.Arbitrary<JsonObject> = fc
  .record({
    turns: fc.array(
      fc.record({
        system: fc.option(text),
        user: fc.oneof(
          text,
          fc.array(
            fc.oneof(
              text.map((each) => ({ type: "text", text: each })),
              fc.constant({
                type: "image_url",
                image_url: { url: `data:image/png;base64,${pixel}`, detail: "low" },
              }),
              fc.constant({
                type: "file",
                file: { filename: "a.pdf", file_data: "data:application/pdf;base64,cGRm" },
              }),
            ),
            { minLength: 1, maxLength: 3 },
          ),
        ),
        said: text,
        calls: fc.uniqueArray(fc.record({ id, name, input }), {
          selector: (call) => call.id,
          maxLength: 3,
        }),
        result: text,
      }),
      { minLength: 1, maxLength: 3 },
    ),
    others: some({
      temperature: number(2),
      top_p: number(1),
      max_completion_tokens: count,
      presence_penalty: number(2),
      seed: fc.integer(),
      stop: fc.oneof(
        fc.string({ minLength: 1 }),
        texts.filter(({ length }) => length > 0),
      ),
      user: text,
      parallel_tool_calls: fc.boolean(),
      reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"),
      response_format: fc.constantFrom(
        { type: "text" },
        { type: "json_object" },
        { type: "json_schema", json_schema: { name: "o", schema: outputSchema, strict: true } },
      ),
      tools: fc.constant([
        { type: "function", function: { name: "get_weather", parameters: tool.schema } },
        { type: "function", function: { name: "bare", description: "", strict: false } },
      ]),
    }),
    choice: fc.constantFrom("none", "auto", "required", {
      type: "function",
      function: { name: "get_weather" },
    }),
  })
  .map(({ turns, others, choice }) => ({
    model: "m",
    messages: turns.flatMap(({ system, user, said, calls, result }) => [
      ...(system === null ? [] : [{ role: "system", content: system }]),
      { role: "user", content: user },
      {
        role: "assistant",
        content: said,
        ...(calls.length > 0 && {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          })),
        }),
      },
      ...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: result })),
    ]),
    ...others,
    ...("tools" in others && { tool_choice: choice }),
  }));

const image = fc.constantFrom(
  { type: "base64", media_type: "image/png", data: pixel },
  { type: "url", url: "https://pictures.test/a.png" },
);
const cached = { cache_control: { type: "ephemeral", ttl: "1h" } };

/** Anthropic takes no empty text. */
const words = text.filter((each) => each !== "");

/** A block of Anthropic's that a user sends, or a tool returns. */
const shown = fc.oneof(
  words.map((each) => ({ type: "text", text: each })),
  words.map((each) => ({ type: "text", text: each, ...cached })),
  image.map((source) => ({ type: "image", source })),
  fc.constant({
    type: "document",
    title: "a: b.pdf",
    source: { type: "base64", media_type: "application/pdf", data: "cGRm" },
  }),
  words.map((data) => ({
    type: "document",
    source: { type: "text", media_type: "text/plain", data },
  })),
);

const toolId = fc.stringMatching(/^[a-zA-Z0-9_-]{1,80}$/);

const messages: fc.Arbitrary<JsonObject> = fc
  .record({
    turns: fc.array(
      fc.record({
        user: fc.array(shown, { minLength: 1, maxLength: 3 }),
        thought: fc.option(fc.record({ thinking: text, signature: text })),
        said: words,
        calls: fc.uniqueArray(fc.record({ id: toolId, name, input }), {
          selector: (call) => call.id,
          maxLength: 3,
        }),
        content: fc.array(shown, { maxLength: 2 }),
        is_error: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    others: some({
      system: fc.oneof(
        text,
        words.map((each) => [{ type: "text", text: each, ...cached }]),
      ),
      temperature: number(1),
      top_k: fc.integer({ min: 0, max: 100 }),
      stop_sequences: texts,
      metadata: some({ user_id: text }),
      thinking: fc.constantFrom(
        { type: "enabled", budget_tokens: 1024 },
        { type: "adaptive" },
        { type: "disabled" },
      ),
      output_config: some({
        effort: fc.constantFrom("low", "medium", "high", "max"),
        format: fc.constant({ type: "json_schema", schema: outputSchema }),
      }),
      tools: fc.constant([
        { name: "get_weather", description: "", input_schema: tool.schema, ...cached },
        { name: "bare", input_schema: { type: "object" }, strict: true },
      ]),
    }),
    choice: fc.constantFrom(
      { type: "auto", disable_parallel_tool_use: true },
      { type: "any" },
      { type: "none" },
      { type: "tool", name: "get_weather" },
    ),
  })
  .map(({ turns, others, choice }) => ({
    model: "m",
    max_tokens: 4000,
    messages: turns.flatMap(({ user, thought, said, calls, content, is_error }) => [
      { role: "user", content: user },
      {
        role: "assistant",
        content: [
          ...(thought === null ? [] : [{ type: "thinking", ...thought }]),
          { type: "text", text: said },
          ...calls.map((call) => ({ type: "tool_use", ...call })),
        ],
      },
      ...(calls.length === 0
        ? []
        : [
            {
              role: "user",
              content: calls.map((call) => {
                return { type: "tool_result", tool_use_id: call.id, content, is_error };
              }),
            },
          ]),
    ]),
    ...others,
    ...("tools" in others && { tool_choice: choice }),
  }));

const clients: readonly (readonly [
  string,
  ClientFormat,
  fc.Arbitrary<JsonObject>,
  ProviderSchema,
])[] = [
  ["completions", completionsClient, completions, ["openai", "CreateChatCompletionRequest"]],
  ["messages", messagesClient, messages, ["anthropic", "CreateMessageParams"]],
];

const pairs = clients.flatMap(([format, client, requests, own]) =>
  upstreams.map(([provider, ...upstream]) => {
    return [format, provider, { client, requests, own, upstream }] as const;
  }),
);

it.each(pairs)(
  "whatever a client of %s asks of %s is sent as it takes it, or refused",
  (_f, _p, pair) => {
    const { client, requests, own, upstream } = pair;
    const [format, model, schema] = upstream;
    fc.assert(
      fc.property(requests, (body) => {
        expect(requestProblems(own, body)).toEqual([]);
        const sent = sentFor(client, format, { ...body, model });
        if (sent !== undefined) expect(requestProblems(schema, sent)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  },
);
