import { readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import type { ClientFormat, UpstreamFormat } from "../../runtime/llm/chat/formats.ts";
import type { FieldTable } from "../../runtime/llm/chat/request-fields.ts";
import { completionsClient } from "../../runtime/llm/formats/completions/client.ts";
import { completionsFields } from "../../runtime/llm/formats/completions/request-fields.ts";
import { completionsUpstream } from "../../runtime/llm/formats/completions/upstream.ts";
import { converseClient } from "../../runtime/llm/formats/converse/client.ts";
import { converseFields } from "../../runtime/llm/formats/converse/request-fields.ts";
import { converseUpstream } from "../../runtime/llm/formats/converse/upstream.ts";
import { generateContentClient } from "../../runtime/llm/formats/generate-content/client.ts";
import { generateContentFields } from "../../runtime/llm/formats/generate-content/request-fields.ts";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import { messagesClient } from "../../runtime/llm/formats/messages/client.ts";
import { messagesFields } from "../../runtime/llm/formats/messages/request-fields.ts";
import { messagesUpstream } from "../../runtime/llm/formats/messages/upstream.ts";
import { responsesClient } from "../../runtime/llm/formats/responses/client.ts";
import { responsesFields } from "../../runtime/llm/formats/responses/request-fields.ts";
import { responsesUpstream } from "../../runtime/llm/formats/responses/upstream.ts";
import { isObject, type JsonValue } from "../harness/provider-schemas/json-schema.ts";
import { root } from "../harness/root.ts";
import { fieldsOfSchema } from "./schema-fields.ts";
import { sentFor } from "./sent-for.ts";

const upstreams = {
  OpenAI: [completionsUpstream, "gpt-5"],
  Responses: [responsesUpstream, "gpt-5"],
  Anthropic: [messagesUpstream, "claude-1"],
  Bedrock: [converseUpstream, "anthropic.claude-1-v1:0"],
  Gemini: [generateContentUpstream, "gemini-3-pro"],
} as const satisfies Readonly<Record<string, readonly [UpstreamFormat, string]>>;

/** The schema of each client format, with the members that every request has. */
const clients = {
  completions: [completionsClient, "openai", "CreateChatCompletionRequest", {}, {}],
  messages: [messagesClient, "anthropic", "CreateMessageParams", {}, { max_tokens: 4000 }],
  responses: [responsesClient, "openai", "CreateResponse", { input: "Hello" }, {}],
  generateContent: [
    generateContentClient,
    "gemini",
    "GenerateContentRequest",
    { contents: [{ parts: [{ text: "Hello" }] }] },
    {},
  ],
  converse: [
    converseClient,
    "bedrock",
    "ConverseRequest",
    { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    {},
  ],
} as const satisfies Readonly<
  Record<string, readonly [ClientFormat, string, string, JsonObject, JsonObject]>
>;

/** The fields of which no value makes a difference to what a provider is sent. */
function excludedFields(
  name: keyof typeof clients,
  upstream: keyof typeof upstreams,
): readonly string[] {
  const [client, document, definition, before, behind] = clients[name];
  const [format, model] = upstreams[upstream];
  const file = path.join(root, "test/harness/provider-schemas", `${document}.json`);
  const fields = fieldsOfSchema(JSON.parse(readFileSync(file, "utf8")).$defs, definition);
  const given = (body: JsonValue) =>
    sentFor(client, format, { ...before, ...(isObject(body) && body), ...behind, model });
  const found = new Map<string, boolean>();
  for (const { path: field, withField, without } of fields) {
    if (name === "responses" && OF_HOSTED_TOOLS.test(field)) continue;
    const sent = given(without);
    // The other members are refused.
    if (sent === undefined) continue;
    const isSame = isDeepStrictEqual(given(withField), sent);
    found.set(field, isSame && found.get(field) !== false);
  }
  return [...found].flatMap(([field, isLeftOut]) => (isLeftOut ? [field] : [])).sort();
}

/** Matches fields of tools that OpenAI's servers run, which are left out as a whole, and of their calls. */
const OF_HOSTED_TOOLS =
  /^(?:input\[\]\.)?tools\[\]\.(?:action|annotations|background|filters|input_|model|moderation|output_|parameters|partial_images|quality|size)|^input\[\]\.(?:action\.(?:queries|sources|url)|approval_request_id|environment\.skills|execution)$/;

/** Fields by the format of clients: for which providers each is left out. */
type LeftOut = Readonly<Record<keyof typeof clients, Readonly<Record<string, string>>>>;

/**
 * The fields that are dropped for each provider without effect on the completion. Any other field either changes the
 * request to the provider, or causes a 400 that names it.
 */
const hints: LeftOut = {
  completions: {
    frequency_penalty: "Responses Anthropic Bedrock",
    "messages[].content[].image_url.detail": "Anthropic",
    "messages[].name": "all",
    metadata: "Anthropic Bedrock Gemini",
    prediction: "all",
    presence_penalty: "Responses Anthropic Bedrock",
    prompt_cache_key: "Anthropic Bedrock Gemini",
    prompt_cache_retention: "Anthropic Bedrock Gemini",
    "response_format.json_schema.description": "Anthropic Gemini",
    "response_format.json_schema.strict": "Anthropic Bedrock Gemini",
    safety_identifier: "Bedrock Gemini",
    seed: "Responses Anthropic Bedrock",
    service_tier: "Anthropic Bedrock Gemini",
    "stream_options.include_obfuscation": "all",
    "tools[].function.strict": "Gemini",
    user: "Bedrock Gemini",
    verbosity: "Anthropic Bedrock Gemini",
    "web_search_options.search_context_size": "Anthropic Gemini",
    "web_search_options.user_location": "Gemini",
    "web_search_options.user_location.approximate.city": "Gemini",
    "web_search_options.user_location.approximate.country": "Gemini",
    "web_search_options.user_location.approximate.region": "Gemini",
    "web_search_options.user_location.approximate.timezone": "Gemini",
  },
  messages: {
    cache_control: "all",
    "cache_control.ttl": "all",
    "messages[].content[].cache_control": "OpenAI Responses Gemini",
    "messages[].content[].cache_control.ttl": "OpenAI Responses Gemini",
    "messages[].content[].caller": "all",
    "messages[].content[].content.tool_references[].cache_control": "all",
    "messages[].content[].content.tool_references[].cache_control.ttl": "all",
    "messages[].content[].content[].cache_control": "OpenAI Responses Gemini",
    "messages[].content[].content[].cache_control.ttl": "OpenAI Responses Gemini",
    "messages[].content[].content[].citations": "Gemini",
    "messages[].content[].content[].content[].cache_control": "OpenAI Responses Bedrock",
    "messages[].content[].content[].content[].cache_control.ttl": "OpenAI Responses Bedrock",
    "messages[].content[].content[].content[].citations": "OpenAI Responses Bedrock",
    "messages[].content[].content[].source.content[].cache_control": "OpenAI Responses Bedrock",
    "messages[].content[].content[].source.content[].cache_control.ttl": "OpenAI Responses Bedrock",
    "messages[].content[].content[].source.content[].citations": "OpenAI Responses Bedrock",
    "messages[].content[].source.content[].cache_control": "all",
    "messages[].content[].source.content[].cache_control.ttl": "all",
    "messages[].content[].source.content[].citations": "all",
    "messages[].content[].title": "Gemini",
    "metadata.user_id": "Bedrock Gemini",
    service_tier: "all",
    "system[].cache_control": "OpenAI Responses Gemini",
    "system[].cache_control.ttl": "OpenAI Responses Gemini",
    "system[].citations": "all",
    "thinking.display": "OpenAI Bedrock Gemini",
    "tools[].cache_control": "OpenAI Responses Gemini",
    "tools[].cache_control.ttl": "all",
    "tools[].defer_loading": "all",
    "tools[].eager_input_streaming": "all",
    "tools[].input_examples": "all",
    "tools[].strict": "Gemini",
    top_k: "OpenAI Responses",
    "messages[].content[].content[].page_age": "all",
    "tools[].max_characters": "all",
    "tools[].max_uses": "Gemini",
    "tools[].user_location": "Gemini",
    "tools[].user_location.city": "Gemini",
    "tools[].user_location.country": "Gemini",
    "tools[].user_location.region": "Gemini",
    "tools[].user_location.timezone": "Gemini",
  },
  responses: {
    context_management: "all",
    "context_management[].compact_threshold": "all",
    "input[].encrypted_content": "all",
    "input[].environment": "all",
    "input[].id": "all",
    "input[].max_output_length": "OpenAI Anthropic Bedrock",
    "input[].phase": "all",
    "input[].status": "all",
    max_tool_calls: "all",
    metadata: "all",
    prompt_cache_key: "all",
    prompt_cache_retention: "all",
    "reasoning.generate_summary": "all",
    "reasoning.summary": "all",
    safety_identifier: "Bedrock Gemini",
    service_tier: "all",
    store: "all",
    "stream_options.include_obfuscation": "all",
    "text.format.description": "Anthropic Gemini",
    "text.format.strict": "Anthropic Bedrock Gemini",
    "text.verbosity": "all",
    "input[].tools[].container.memory_limit": "Anthropic Gemini",
    "input[].tools[].defer_loading": "all",
    "input[].tools[].tools[].defer_loading": "all",
    "input[].tools[].tools[].strict": "Gemini",
    "tools[].container.memory_limit": "Anthropic Gemini",
    ...searchHints("input[].tools[]"),
    ...searchHints("tools[]"),
    "tools[].defer_loading": "all",
    "tools[].tools[].defer_loading": "all",
    "tools[].tools[].strict": "Gemini",
    user: "Bedrock Gemini",
  },
  generateContent: {
    "generationConfig.frequencyPenalty": "Responses Anthropic Bedrock",
    "generationConfig.mediaResolution": "all",
    "generationConfig.presencePenalty": "Responses Anthropic Bedrock",
    "generationConfig.seed": "Responses Anthropic Bedrock",
    "generationConfig.thinkingConfig.includeThoughts": "all",
    "generationConfig.topK": "OpenAI Responses",
    safetySettings: "all",
    "safetySettings[].category": "all",
    "safetySettings[].threshold": "all",
    serviceTier: "all",
    store: "all",
    "systemInstruction.role": "all",
    "toolConfig.includeServerSideToolInvocations": "all",
  },
  converse: {
    "messages[].content[].cachePoint.ttl": "OpenAI Responses Gemini",
    "messages[].content[].citationsContent.citations": "all",
    "messages[].content[].reasoningContent.reasoningText.signature": "OpenAI Responses Gemini",
    "messages[].content[].reasoningContent.redactedContent": "OpenAI Responses Gemini",
    performanceConfig: "all",
    requestMetadata: "all",
    serviceTier: "all",
    "system[].cachePoint.ttl": "OpenAI Responses Gemini",
    "toolConfig.tools[].cachePoint.ttl": "all",
    "toolConfig.tools[].toolSpec.strict": "Gemini",
  },
};

/** Members of a search of the web. */
function searchHints(tool: string): Readonly<Record<string, string>> {
  return {
    [`${tool}.search_content_types`]: "Anthropic Gemini",
    [`${tool}.search_context_size`]: "Anthropic Gemini",
    [`${tool}.user_location`]: "Gemini",
    [`${tool}.user_location.city`]: "Gemini",
    [`${tool}.user_location.country`]: "Gemini",
    [`${tool}.user_location.region`]: "Gemini",
    [`${tool}.user_location.timezone`]: "Gemini",
  };
}

/** Fields whose smallest values ask for nothing, or say it elsewhere. */
const misplacedFieldHints: LeftOut = {
  completions: {
    function_call: "all",
    "functions[].parameters": "all",
    logit_bias: "all",
    modalities: "all",
    parallel_tool_calls: "all",
    stream: "Bedrock Gemini",
    stream_options: "all",
    "stream_options.include_usage": "all",
    "tools[].function.parameters": "all",
  },
  messages: {
    metadata: "all",
    output_config: "all",
    stream: "Bedrock Gemini",
    tool_choice: "all",
    "tool_choice.disable_parallel_tool_use": "all",
    "tools[].allowed_callers": "all",
    "tools[].input_schema.properties": "Gemini",
    "tools[].input_schema.required": "Gemini",
    "tools[].type": "all",
  },
  responses: {
    include: "all",
    "input[].content": "all",
    "input[].tools[].user_location.type": "Anthropic Gemini",
    "tools[].user_location.type": "Anthropic Gemini",
    "input[].tools[].tools[].parameters": "all",
    "tools[].tools[].parameters": "all",
    "input[].type": "all",
    model: "all",
    parallel_tool_calls: "all",
    reasoning: "all",
    stream: "Bedrock Gemini",
    stream_options: "all",
    text: "all",
  },
  generateContent: {
    generationConfig: "all",
    "generationConfig.responseSchema.nullable": "all",
    "generationConfig.thinkingConfig": "all",
    model: "all",
    systemInstruction: "all",
    toolConfig: "all",
    "toolConfig.functionCallingConfig": "all",
    "toolConfig.functionCallingConfig.allowedFunctionNames": "all",
    "toolConfig.functionCallingConfig.mode": "all",
    "toolConfig.retrievalConfig": "all",
    tools: "all",
    "tools[].googleSearch.searchTypes": "Responses Anthropic",
    "tools[].googleSearch.searchTypes.webSearch": "Responses Anthropic",
  },
  converse: {
    ...Object.fromEntries(citedFields().map((field) => [field, "all"])),
    additionalModelRequestFields: "all",
    inferenceConfig: "all",
    // Points without a block before them.
    "messages[].content[].cachePoint.ttl": "all",
    "messages[].content[].reasoningContent.reasoningText": "all",
    outputConfig: "all",
    "performanceConfig.latency": "all",
    promptVariables: "all",
    "system[].cachePoint.ttl": "all",
    "toolConfig.tools[].toolSpec.inputSchema.json": "Gemini",
  },
};

/** Members of citations in Converse, which are left out as a whole. */
function citedFields(): readonly string[] {
  const locations = {
    documentChar: ["documentIndex", "start", "end"],
    documentChunk: ["documentIndex", "start", "end"],
    documentPage: ["documentIndex", "start", "end"],
    searchResultLocation: ["searchResultIndex", "start", "end"],
    web: ["url", "domain"],
  };
  const inside = Object.entries(locations).flatMap(([name, members]) => [
    `location.${name}`,
    ...members.map((member) => `location.${name}.${member}`),
  ]);
  const own = ["location", "source", "sourceContent", "sourceContent[].text", "title"];
  return [...own, ...inside].map(
    (name) => `messages[].content[].citationsContent.citations[].${name}`,
  );
}

/** Formats that are passed on as they are. */
const native: Readonly<Record<string, string>> = {
  completions: "OpenAI",
  messages: "Anthropic",
  responses: "Responses",
  generateContent: "Gemini",
  converse: "Bedrock",
};

const pairs = names(clients).flatMap((client) =>
  names(upstreams)
    .filter((upstream) => native[client] !== upstream)
    .map((upstream) => [client, upstream] as const),
);

function names<Name extends string>(record: Readonly<Record<Name, unknown>>): readonly Name[] {
  const found: Name[] = [];
  for (const name in record) found.push(name);
  return found;
}

it.each(pairs)("nothing but hints of a request of %s is left out for %s", (client, upstream) => {
  const allowed = Object.entries({ ...hints[client], ...misplacedFieldHints[client] }).filter(
    ([, whom]) => whom === "all" || whom.split(" ").includes(upstream),
  );
  expect(excludedFields(client, upstream)).toEqual(allowed.map(([field]) => field).sort());
});

/** The fields that the readers of a format leave out whatever they say: some are no part of its document. */
const dropped = {
  completions: completionsFields,
  messages: messagesFields,
  responses: responsesFields,
  generateContent: generateContentFields,
  converse: converseFields,
} as const satisfies Record<keyof typeof clients, FieldTable>;

const titles = {
  completions: "chat completions",
  messages: "messages",
  responses: "responses",
  generateContent: "generateContent",
  converse: "converse",
};

it.each(names(clients))("the guide names every hint of %s, and who does not get it", (client) => {
  const fields: [string, string][] = Object.entries(hints[client]);
  for (const [field, fate] of Object.entries(dropped[client])) {
    if (fate === "dropped" && hints[client][field] === undefined) fields.push([field, "all"]);
  }
  const rows = Map.groupBy(fields.sort(), ([, whom]) => whom);
  const expected = [...rows].map(([whom, all]) => {
    const list = all.map(([field]) => `\`${field}\``).join(", ");
    return `| ${titles[client]} | ${whom.replaceAll(" ", ", ")} | ${list} |`;
  });
  const guide = readFileSync(path.join(root, ".github/guides/models.md"), "utf8");
  const row = new RegExp(`^\\| ${titles[client]} \\|.*\`.*$`, "gm");
  expect(guide.match(row)?.sort()).toEqual(expected.sort());
});

it.each([
  ["low", "low"],
  ["original", "high"],
])("how closely a model looks at a picture is said in chat completions: %s", (detail, said) => {
  const image = { type: "input_image", image_url: "https://pictures.test/a.png", detail };
  const body = { model: "m", input: [{ role: "user", content: [image] }] };
  expect(sentFor(responsesClient, completionsUpstream, body)).toMatchObject({
    messages: [{ content: [{ image_url: { url: image.image_url, detail: said } }] }],
  });
});
