import { beforeAll, expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { guardWhole } from "../../runtime/llm/calls/response-guard.ts";
import { MEMBER_WORDS } from "../../runtime/llm/chat/member-words.ts";
import { mapMembers, type TextFormat, textMembers } from "../../runtime/llm/chat/texts.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { converseTexts } from "../../runtime/llm/formats/converse/texts.ts";
import { embeddingsTexts } from "../../runtime/llm/formats/embeddings/texts.ts";
import { generateContentTexts } from "../../runtime/llm/formats/generate-content/texts.ts";
import { messagesTexts } from "../../runtime/llm/formats/messages/texts.ts";
import { responsesTexts } from "../../runtime/llm/formats/responses/texts.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { patternGuards } from "../../runtime/llm/guards/pattern-step.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";
import { type TextField, textFieldsOf } from "./text-fields.ts";

const CHAT = "openai/resources/chat/completions";
const MESSAGES = "@anthropic-ai/sdk/resources/messages";
const RESPONSES = "openai/resources/responses/responses";
const GOOGLE = "@google/genai";
const BEDROCK = "@aws-sdk/client-bedrock-runtime";
const secret = "secret42";

interface Row {
  readonly module: string;
  readonly name: string;
  readonly format: TextFormat;
  readonly part: "request" | "response" | "stream";
  /** Member that holds a list of values; absent if a value is a body. */
  readonly member?: string;
}

const rows: readonly Row[] = [
  {
    module: CHAT,
    name: "ChatCompletionCreateParamsNonStreaming",
    format: completionsTexts,
    part: "request",
  },
  { module: CHAT, name: "ChatCompletion", format: completionsTexts, part: "response" },
  { module: CHAT, name: "ChatCompletionChunk", format: completionsTexts, part: "stream" },
  {
    module: MESSAGES,
    name: "MessageCreateParamsNonStreaming",
    format: messagesTexts,
    part: "request",
  },
  { module: MESSAGES, name: "Message", format: messagesTexts, part: "response" },
  { module: MESSAGES, name: "RawMessageStreamEvent", format: messagesTexts, part: "stream" },
  {
    module: RESPONSES,
    name: "ResponseCreateParamsNonStreaming",
    format: responsesTexts,
    part: "request",
  },
  { module: RESPONSES, name: "Response", format: responsesTexts, part: "response" },
  {
    module: GOOGLE,
    name: "Content",
    format: generateContentTexts,
    part: "request",
    member: "contents",
  },
  {
    module: GOOGLE,
    name: "Tool",
    format: generateContentTexts,
    part: "request",
    member: "tools",
  },
  {
    module: GOOGLE,
    name: "GenerateContentResponse",
    format: generateContentTexts,
    part: "response",
  },
  {
    module: GOOGLE,
    name: "GenerateContentResponse",
    format: generateContentTexts,
    part: "stream",
  },
  { module: BEDROCK, name: "ConverseRequest", format: converseTexts, part: "request" },
  { module: BEDROCK, name: "ConverseResponse", format: converseTexts, part: "response" },
  { module: BEDROCK, name: "ConverseStreamOutput", format: converseTexts, part: "stream" },
  {
    module: "openai/resources/embeddings",
    name: "EmbeddingCreateParams",
    format: embeddingsTexts,
    part: "request",
  },
];

/** Members of responses that a provider writes: other members repeat the request, or are added by the SDK. */
const RESPONSE_TEXTS: Readonly<Record<string, RegExp>> = {
  Response: /^\.(?:output|output_text|instructions|error)\b/,
  GenerateContentResponse: /^\.(?:candidates|promptFeedback)\b/,
};

/** The strings that no model reads and no user sees, by the name of the field. */
const others: Readonly<Record<string, readonly string[]>> = {
  "names and numbers by which programs find things": [
    ...["id", "call_id", "caller_id", "file_id", "file_ids", "item_id", "tool_id", "tool_call_id"],
    ...[
      "tool_use_id",
      "tab_id",
      "download_id",
      "skill_id",
      "container_id",
      "container",
      "tunnel_id",
    ],
    ...["approval_request_id", "previous_message_id", "previous_response_id", "conversation"],
    ...["workspace_id", "user_id", "user_profile_id", "vector_store_ids", "model", "version"],
    ...["type", "code", "system_fingerprint"],
    ...["encrypted_index", "prompt_cache_key", "safety_identifier", "user", "voice"],
    ...["inference_geo", "expires_at", "modelId", "guardrailIdentifier", "guardrailVersion"],
    "toolUseId",
  ],
  "addresses, which would lead nowhere": [
    ...["url", "image_url", "file_url", "server_url", "path", "domain", "allowed_domains"],
    ...["uri", "fileUri"],
  ],
  "bytes, and what only its maker reads": [
    ...["data", "file_data", "result", "signature", "encrypted_content", "encrypted_stdout"],
    ...["thoughtSignature", "sdkBlob"],
  ],
  "credentials of tools": ["authorization", "headers"],
  "words for the provider, which no model reads": [
    ...["metadata", "requestMetadata", "additionalModelResponseFieldPaths"],
  ],
  "what a response repeats of its request, or the provider says itself": [
    ...["key", "value"],
    ...["filters", "city", "country", "region", "timezone", "server_description", "message"],
  ],
};

let fields: ReadonlyMap<string, readonly TextField[]>;

beforeAll(() => {
  fields = textFieldsOf(rows, secret);
}, 300_000);

it.each(rows)(
  "$name: every string is guarded except those that are not text",
  ({ name, format, part, member }) => {
    const bodyOf = (value: unknown) => (member === undefined ? value : { [member]: [value] });
    const found = (fields.get(name) ?? []).filter(
      ({ path }) => RESPONSE_TEXTS[name]?.test(path) !== false,
    );
    expect(found.length).toBeGreaterThan(2);
    const unguarded = found.filter(({ value }) =>
      guarded(bodyOf(value), format, part).includes(secret),
    );
    const names = new Set(unguarded.map(({ path }) => lastName(path)));
    const unknown = [...names].filter((each) => !Object.values(others).flat().includes(each));
    expect(
      unknown.map((each) => unguarded.find(({ path }) => lastName(path) === each)?.path),
    ).toEqual([]);
  },
);

it.each([
  ["ChatCompletionCreateParamsNonStreaming", ".messages[].content[](text).text"],
  [
    "ChatCompletionCreateParamsNonStreaming",
    ".messages[].tool_calls[](function).function.arguments",
  ],
  ["ChatCompletionChunk", ".choices[].delta.refusal"],
  ["MessageCreateParamsNonStreaming", ".messages[].content[](tool_result).content[](text).text"],
  ["Message", "(message).content[](thinking).thinking"],
  ["RawMessageStreamEvent", "(content_block_delta).delta(input_json_delta).partial_json"],
  ["ResponseCreateParamsNonStreaming", ".instructions"],
  ["ResponseCreateParamsNonStreaming", ".input[](function_call_output).output"],
  ["Response", ".output[](reasoning).summary[](summary_text).text"],
  ["EmbeddingCreateParams", ".input[]"],
  ["ChatCompletionCreateParamsNonStreaming", ".messages[].name"],
  ["ChatCompletionCreateParamsNonStreaming", ".stop"],
  ["ChatCompletionCreateParamsNonStreaming", ".tool_choice(function).function.name"],
  ["MessageCreateParamsNonStreaming", ".stop_sequences[]"],
  ["Response", ".error.message"],
])("the types of %s have %s, and it is guarded", (name, path) => {
  const row = rows.find((each) => each.name === name);
  const field = fields.get(name)?.find((each) => each.path === path);
  if (row === undefined || field === undefined) throw new Error("there is no such field");
  expect(guarded(field.value, row.format, row.part)).not.toContain(secret);
});

it("what a model reads of a tool's schema is guarded, and stays a schema", () => {
  const schema = {
    type: "object",
    properties: { [secret]: { $ref: `#/$defs/${secret}` }, id: { enum: [secret] } },
    $defs: { [secret]: { type: ["string", "null"], pattern: secret, const: { id: secret } } },
    required: [secret, "id"],
    [secret]: { [secret]: 1 },
  };
  const tools = [{ type: "function", function: { name: secret, parameters: schema } }];
  const body = {
    tools,
    metadata: { [secret]: secret },
    messages: [{ role: "user", name: secret }],
  };
  expect(JSON.parse(guarded(body, completionsTexts, "request"))).toEqual(
    JSON.parse(
      JSON.stringify(body)
        .replaceAll(/"(pattern|id|enum)":(\[?)"secret42"/g, '"$1":$2"<masked>"')
        .replace('"metadata":{"secret42":"secret42"}', '"metadata":{"<masked>":"<masked>"}')
        .replaceAll(secret, "masked"),
    ),
  );
});

it.each([
  ["a field that no format has", { documents: [{ title: "a", [secret]: { [secret]: 1 } }] }],
  ["a message", { messages: [{ role: "user", content: [{ type: "text", [secret]: { a: 1 } }] }] }],
  ["a tool", { tools: [{ type: "function", function: { name: "f", [secret]: true } }] }],
])("what a client calls members is a text in %s", (_, body) => {
  const request = textMembers(body, completionsTexts);
  const masked = JSON.parse(JSON.stringify(body).replaceAll(secret, "masked"));
  expect(JSON.parse(guarded(body, { ...completionsTexts, request }, "request"))).toEqual(masked);
});

it("servers are not asked about the words that formats have for members", () => {
  const names = rows
    .filter(({ part }) => part === "request")
    .flatMap(({ name, format }) =>
      (fields.get(name) ?? [])
        .map(({ path }) => path.replaceAll(/\([^)]*\)/g, "").match(/[a-z_][a-z_0-9]*/gi) ?? [])
        .filter(([member = ""]) => format.request.includes(member) && member !== "metadata")
        .flatMap(([, ...inside]) => inside),
    );
  expect([...new Set(names)].filter((each) => !MEMBER_WORDS.has(each))).toEqual([]);
});

it.each(["id", "user_id", "type", "status", "url", "name", "arguments", "parameters", "logprobs"])(
  "a variable of a kept prompt is a text, even if it is called %s",
  (name) => {
    const variables = {
      [name]: `Say ${secret}.`,
      about: { type: "input_text", text: secret },
    };
    expect(
      JSON.parse(guarded({ prompt: { id: "p", variables } }, responsesTexts, "request")),
    ).toEqual({
      prompt: {
        id: "p",
        variables: {
          [name]: "Say <masked>.",
          about: { type: "input_text", text: "<masked>" },
        },
      },
    });
  },
);

const strange = { citations: [{ title: secret }], note: secret };

it.each([
  ["completions", completionsTexts, { id: "1", choices: [{ delta: { content: "" } }] }],
  ["completions without choices", completionsTexts, { id: "1" }],
  ["messages", messagesTexts, { type: "note", content: [] }],
  ["responses", responsesTexts, { output: [] }],
])("%s: what the API does not know is guarded in responses, whole and streamed", async (...row) => {
  const [, format, known] = row;
  const given = JSON.stringify({ ...known, ...strange });
  const steps = [patternGuards([maskPatterns([guardPattern(secret, secret.length)])])];
  const whole = await guardWhole(given, { run: new GuardRun("response"), steps, format });
  expect(whole).toMatch(/"citations"/);
  expect(whole).not.toContain(secret);
  const streamed = guarded({ ...known, ...strange }, format, "stream");
  expect(streamed).toMatch(/"citations"/);
  expect(streamed).not.toContain(secret);
});

it("a response with a duplicate member is refused, as the client may read the other one", async () => {
  const steps = [patternGuards([maskPatterns([guardPattern(secret, secret.length)])])];
  const text = `{"choices":[{"message":{"content":"${secret}","content":"Hi."}}]}`;
  const run = new GuardRun("response");
  expect(await guardWhole(text, { run, steps, format: completionsTexts })).toBeUndefined();
});

function guarded(value: unknown, format: TextFormat, part: Row["part"]): string {
  const run = new GuardRun("response");
  const texts = new PatternTexts([maskPatterns([guardPattern(secret, secret.length)])], run);
  if (part !== "stream")
    return JSON.stringify(mapMembers(value as JsonObject, format[part], texts));
  const stream = format.openStream(texts);
  const event = Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
  return [...stream.see(event), ...stream.end()].map(String).join("");
}

/** `url` of `.messages[].content[](image_url).image_url.url`. */
function lastName(path: string): string {
  const names = path.replaceAll(/\([^)]*\)/g, "").match(/[a-z_]+/gi);
  return names?.at(-1) ?? "";
}
