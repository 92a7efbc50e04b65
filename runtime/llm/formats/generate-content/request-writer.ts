import type { JsonObject } from "../../../cel/variables.ts";
import { parseExact } from "../../../json/exact-json.ts";
import type {
  ContentBlock,
  MediaSource,
  ToolCallBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import { type FeatureSupport, refuseFeature } from "../../chat/features.ts";
import type { WebFetch } from "../../chat/hosted-tools.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import {
  type ChatRequest,
  type Effort,
  hasHostedTools,
  type OutputFormat,
  type ToolChoice,
  type Turn,
} from "../../chat/request.ts";
import { googleSignature } from "../google-signature.ts";
import { stopWithin } from "../stop-within.ts";
import { writeSchema } from "./schema.ts";

/** Support of features in generateContent. */
export const GENERATE_CONTENT_SUPPORT: FeatureSupport = {
  // The gateway does not fetch URLs that clients send.
  imageUrl: "refused",
  image: "kept",
  documentUrl: "refused",
  document: "kept",
  fileReference: "refused",
  audio: "kept",
  // Images and files of tool results follow them as parts of the turn.
  toolResultMedia: "changed",
  toolError: "kept",
  // The model is not forced to follow the schema.
  strictTools: "dropped",
  toolChoice: "kept",
  allowedTools: "kept",
  // Only the first call is forwarded.
  parallelTools: "changed",
  // Without limits, and only without other tools.
  webSearch: "changed",
  webFetch: "changed",
  codeExecution: "changed",
  // Its responses do not show the calls.
  connectors: "refused",
  temperature: "kept",
  topP: "kept",
  topK: "kept",
  penalties: "kept",
  seed: "kept",
  choices: "refused",
  stop: "kept",
  blankStop: "kept",
  objectOutput: "kept",
  // As far as OpenAPI's schemas can express it.
  schemaOutput: "changed",
  reasoning: "changed",
  // Reasoning is not sent back; signatures of calls are.
  reasoningReplay: "changed",
  cacheMarks: "dropped",
  user: "dropped",
};

/** Writes a request for generateContent. The model is in the path. Throws LlmRefusal. */
export function writeGenerateContentRequest(request: ChatRequest): string {
  const { system, tools, toolChoice } = request;
  return JSON.stringify({
    systemInstruction:
      system.length === 0 ? undefined : { parts: system.map(({ text }) => ({ text })) },
    contents: contentsOf(request),
    ...(hasHostedTools(request) && { tools: hostedTools(request) }),
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map(declaration) }],
      toolConfig: toolChoice && { functionCallingConfig: callingConfig(toolChoice) },
    }),
    generationConfig: generationConfig(request),
  });
}

/** Google's models decide themselves how often they use these. */
function hostedTools(request: ChatRequest): readonly JsonObject[] {
  const { webSearch, webFetch, runsCode, tools } = request;
  const isAlone = tools.length === 0;
  const written: JsonObject[] = [];
  if (webSearch !== undefined) {
    if (!isAlone) refuseFeature(request, "webSearch", "a web search next to other tools");
    if (isLimited(webSearch))
      refuseFeature(request, "webSearch", "a web search of some domains only");
    written.push({ googleSearch: {} });
  }
  if (webFetch !== undefined) {
    if (!isAlone) refuseFeature(request, "webFetch", "a fetch of pages next to other tools");
    if (isLimited(webFetch)) refuseFeature(request, "webFetch", "a fetch of some domains only");
    written.push({ urlContext: {} });
  }
  if (runsCode === true) {
    if (!isAlone) refuseFeature(request, "codeExecution", "code execution next to other tools");
    written.push({ codeExecution: {} });
  }
  return written;
}

function isLimited({
  allowedDomains,
  blockedDomains,
}: Pick<WebFetch, "allowedDomains" | "blockedDomains">): boolean {
  return allowedDomains !== undefined || blockedDomains !== undefined;
}

function declaration({ name, description, schema }: ChatRequest["tools"][number]): JsonObject {
  const parameters = writeSchema(schema, { what: `the schema of tool "${name}"`, field: "tools" });
  // generateContent refuses an object without properties.
  return { name, description, parameters: hasProperties(parameters) ? parameters : undefined };
}

function hasProperties({ properties, anyOf }: JsonObject): boolean {
  return properties !== undefined || anyOf !== undefined;
}

function callingConfig(choice: ToolChoice): JsonObject {
  switch (choice.kind) {
    case "none":
      return { mode: "NONE" };
    case "auto":
      return { mode: "AUTO" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [choice.name] };
  }
}

interface Content {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

/** Roles alternate, starting with the user. Turns that become empty are omitted, and their neighbors are joined. */
function contentsOf(request: ChatRequest): readonly Content[] {
  const names = new Map<string, string>();
  const contents: Content[] = [];
  for (const turn of request.turns) {
    const role = turn.role === "user" ? "user" : "model";
    const parts = role === "user" ? userParts(turn, names) : modelParts(turn, request, names);
    const last = contents.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts: [...parts] });
  }
  if (contents[0]?.role !== "user") contents.unshift({ role: "user", parts: [BLANK] });
  return contents;
}

/** Text for places that require one. */
const BLANK: JsonObject = { text: " " };

/** Tool results come first, in the order of their calls; their images and files follow. */
function userParts({ blocks }: Turn, names: ReadonlyMap<string, string>): readonly JsonObject[] {
  const order = [...names.keys()];
  const results = blocks
    .filter((block) => block.kind === "tool-result")
    .toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const shown = results.flatMap(({ id, content }) => {
    const media = content.filter(({ kind }) => kind !== "text");
    return media.length === 0
      ? []
      : [{ text: `Shown by ${names.get(id)}:` }, ...media.flatMap(mediaPart)];
  });
  const parts = [...shown, ...blocks.flatMap(mediaPart)];
  const isMute = results.length === 0 && parts.length > 0 && !parts.some(hasText);
  return [
    ...results.map((result) => functionResponse(result, names)),
    ...parts,
    ...(isMute ? [BLANK] : []),
  ];
}

function hasText(part: JsonObject): boolean {
  return typeof part.text === "string";
}

function functionResponse(
  { id, content, isError }: ToolResultBlock,
  names: ReadonlyMap<string, string>,
): JsonObject {
  const name = names.get(id);
  if (name === undefined) {
    const message = `there is no tool call with the id "${id}" before its result`;
    throw new LlmRefusal({ kind: "invalid", message, field: "messages" });
  }
  const text = content.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n");
  return { functionResponse: { name, response: isError ? { error: text } : { output: text } } };
}

/** Returns the model's parts. A call includes its signature: its own, or the one of the reasoning before it. */
function modelParts(
  { blocks }: Turn,
  { model }: ChatRequest,
  names: Map<string, string>,
): readonly JsonObject[] {
  const parts: JsonObject[] = [];
  let signature: string | undefined;
  let isFirst = true;
  for (const block of blocks) {
    if (block.kind === "reasoning") signature = googleSignature(block.signature) ?? signature;
    if (block.kind === "text" && block.text !== "") parts.push({ text: block.text });
    if (block.kind !== "tool-call") continue;
    const thoughtSignature =
      block.signature ?? signature ?? (isFirst && wantsSignatures(model) ? UNSIGNED : undefined);
    parts.push(functionCall(block, thoughtSignature));
    // Of two calls with the same id, the later result belongs to the later one.
    names.delete(block.id);
    names.set(block.id, block.name);
    signature = undefined;
    isFirst = false;
  }
  return parts;
}

function functionCall({ name, input }: ToolCallBlock, thoughtSignature?: string): JsonObject {
  return { functionCall: { name, args: parseExact(input) }, thoughtSignature };
}

/** Signature that Google defines for calls of other models: Gemini 3 refuses a first call without a signature. */
const UNSIGNED = "skip_thought_signature_validator";

/** Whether it is a model of the third generation, or a later one. */
function wantsSignatures(model: string): boolean {
  return !/gemini-[12][.-]/.test(model);
}

function mediaPart(block: ContentBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "image":
      return inlineData(block.source);
    case "document":
      return block.source.kind === "text"
        ? [{ text: block.source.text }]
        : inlineData(block.source);
    case "audio":
      return [{ inlineData: { mimeType: `audio/${block.format}`, data: block.data } }];
    default:
      // Results are placed before these; calls and reasoning belong to the model.
      return [];
  }
}

/** Other sources are refused earlier. */
function inlineData(source: MediaSource): readonly JsonObject[] {
  if (source.kind !== "base64") return [];
  return [{ inlineData: { mimeType: source.mediaType, data: source.data } }];
}

function generationConfig(request: ChatRequest): JsonObject | undefined {
  const { stop, output } = request;
  const config: JsonObject = {
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    // 32 bits here.
    seed: request.seed === undefined ? undefined : request.seed % 2 ** 31,
    stopSequences: stop.length === 0 ? undefined : stopWithin(request, MAX_STOP),
    thinkingConfig: thinkingConfig(request),
    ...(output && outputConfig(output, request)),
  };
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}

/** Maximum number of stop sequences. */
const MAX_STOP = 5;

function outputConfig(output: OutputFormat, { features }: ChatRequest): JsonObject {
  const responseMimeType = "application/json";
  if (output.kind === "object") return { responseMimeType };
  const field = features.get("schemaOutput") ?? "model";
  const place = { what: "the schema of the output", field };
  return { responseMimeType, responseSchema: writeSchema(output.schema, place) };
}

/** Models before the third generation take token budgets, later ones levels. All reasoning models accept budgets. */
function thinkingConfig({ reasoning, model }: ChatRequest): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.kind === "budget") {
    return { includeThoughts: true, thinkingBudget: Math.min(reasoning.tokens, MAX_BUDGET) };
  }
  const hasLevels = wantsSignatures(model);
  if (reasoning.kind === "off") {
    if (hasLevels) return { thinkingLevel: "LOW" };
    // Reasoning cannot be disabled in the large model of that generation.
    return { thinkingBudget: /gemini-2\.5-pro/.test(model) ? 128 : 0 };
  }
  const { effort } = reasoning;
  return hasLevels
    ? { includeThoughts: true, thinkingLevel: LEVELS[effort] }
    : { includeThoughts: true, thinkingBudget: BUDGETS[effort] };
}

/** Maximum budget that every model accepts, in tokens. */
const MAX_BUDGET = 24_576;

/** Budgets that Google's own server of chat completions uses for efforts. */
const BUDGETS: { readonly [Each in Effort]: number } = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: MAX_BUDGET,
  xhigh: MAX_BUDGET,
  max: MAX_BUDGET,
};

const LEVELS: { readonly [Each in Effort]: "LOW" | "MEDIUM" | "HIGH" } = {
  minimal: "LOW",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};
