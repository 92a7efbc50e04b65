import type { JsonObject } from "../../../cel/variables.ts";
import type { CacheMark, ContentBlock, ImageBlock, TextBlock } from "../../chat/content.ts";
import { type Feature, type NoteFeature, noteBlankStop } from "../../chat/features.ts";
import {
  type ChatRequest,
  type ListedTool,
  type OutputFormat,
  type Reasoning,
  Turns,
} from "../../chat/request.ts";
import { checkFields, checkTool, refuseField, type ToolTable } from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { ANY_SEARCH, type WebSearch } from "../../chat/web-search.ts";
import { readCacheMark } from "../cache-mark.ts";
import { readDataUrl, readFileData } from "../data-url.ts";
import {
  readCallInput,
  readEffort,
  readFunctionTool,
  readSchemaOutput,
  readToolChoice,
} from "../openai-fields.ts";
import { freeformTool } from "../responses/agent-tools.ts";
import { readLocation } from "../user-location.ts";
import { FunctionCalls, readFunctionChoice, readFunctions } from "./legacy-functions.ts";
import { completionsFields } from "./request-fields.ts";

/** Reads a request of OpenAI's chat completions. Throws LlmRefusal. */
export function readCompletionsRequest(body: JsonObject): ChatRequest {
  const fields = new RequestObject(body);
  checkFields(fields, completionsFields);
  const features = new Map<Feature, string>();
  const note: NoteFeature = (feature, field) => {
    if (!features.has(feature)) features.set(feature, field);
  };
  const noteField = (feature: Feature, name: string): void => {
    if (fields.any(name) !== undefined) note(feature, name);
  };
  const choices = fields.number("n");
  if (choices !== undefined && choices > 1) note("choices", "n");
  noteField("temperature", "temperature");
  noteField("topP", "top_p");
  noteField("penalties", "frequency_penalty");
  noteField("penalties", "presence_penalty");
  noteField("seed", "seed");
  noteField("stop", "stop");
  noteField("reasoning", "reasoning_effort");
  noteField("topK", "top_k");
  noteField("user", "user");
  noteField("user", "safety_identifier");
  const functions = readFunctions(fields, note);
  const parallelTools = functions.length > 0 ? false : fields.boolean("parallel_tool_calls");
  if (parallelTools === false) note("parallelTools", "parallel_tool_calls");
  const { toolChoice, allowed } = readFunctionChoice(fields, note) ?? readToolChoice(fields, note);
  const tools = [...readTools(fields, note), ...functions];
  const stop = readStop(fields);
  noteBlankStop(stop, "stop", note);
  return {
    model: fields.text("model"),
    isStream: fields.boolean("stream") ?? false,
    ...readMessages(fields, note),
    tools: allowed === undefined ? tools : tools.filter(({ name }) => allowed.includes(name)),
    webSearch: readWebSearch(fields, note),
    toolChoice,
    parallelTools,
    maxTokens: fields.number("max_completion_tokens") ?? fields.number("max_tokens"),
    temperature: fields.number("temperature"),
    topP: fields.number("top_p"),
    topK: fields.number("top_k"),
    frequencyPenalty: fields.number("frequency_penalty"),
    presencePenalty: fields.number("presence_penalty"),
    seed: fields.number("seed"),
    choices,
    stop,
    output: readOutput(fields, note),
    reasoning: readReasoning(fields, note),
    user: fields.optionalText("safety_identifier") ?? fields.optionalText("user"),
    openai: fields.some(SHARED_FIELDS),
    verbosity: fields.optionalText("verbosity"),
    features,
  };
}

/** Fields that the Responses API has as well. */
const SHARED_FIELDS = ["metadata", "prompt_cache_key", "prompt_cache_retention", "service_tier"];

function readMessages(
  fields: RequestObject,
  note: NoteFeature,
): Pick<ChatRequest, "system" | "turns"> {
  if (!fields.list("messages")?.length) throw wrongField("messages", "a list of messages");
  const system: TextBlock[] = [];
  const turns = new Turns();
  const functionCalls = new FunctionCalls();
  const addResult = (id: string, content: readonly TextBlock[]) =>
    turns.add("user", [{ kind: "tool-result", id, content, isError: false, cache: undefined }]);
  for (const message of fields.objects("messages")) {
    const role = message.text("role");
    switch (role) {
      case "system":
      case "developer":
        system.push(...readTexts(message, note));
        break;
      case "user":
        turns.add("user", readParts(message, note));
        break;
      case "assistant":
        turns.add("assistant", [...readAssistant(message, note), ...functionCalls.read(message)]);
        break;
      case "tool":
        addResult(message.text("tool_call_id"), readTexts(message, note));
        break;
      case "function":
        addResult(functionCalls.resultId(message), readTexts(message, note));
        break;
      default:
        throw wrongField(message.at("role"), "system, developer, user, assistant or tool");
    }
  }
  return { system, turns: turns.all };
}

/** Reads the content of a message that may only have text. */
function readTexts(message: RequestObject, note: NoteFeature): readonly TextBlock[] {
  const content = message.any("content");
  if (content === undefined || content === "") return [];
  // Clients that mark plain texts do so in the message.
  const cache = readCacheMark(message, note);
  if (typeof content === "string") return [{ kind: "text", text: content, cache }];
  const parts = message.objects("content").flatMap((part): readonly TextBlock[] => {
    if (part.text("type") !== "text") throw wrongField(part.at("type"), "text");
    return readText(part, note);
  });
  return markedLast(parts, cache);
}

function readText(part: RequestObject, note: NoteFeature): readonly TextBlock[] {
  const text = part.text("text");
  return text === "" ? [] : [{ kind: "text", text, cache: readCacheMark(part, note) }];
}

/** Marks the last block as one to cache, unless it is marked. */
function markedLast<Block extends ContentBlock>(
  blocks: readonly Block[],
  cache: CacheMark | undefined,
): readonly Block[] {
  const last = blocks.at(-1);
  if (cache === undefined || last === undefined || ("cache" in last && last.cache)) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache }];
}

function readParts(message: RequestObject, note: NoteFeature): readonly ContentBlock[] {
  if (typeof message.any("content") === "string") return readTexts(message, note);
  if (message.list("content") === undefined)
    throw wrongField(message.at("content"), "a string or a list of parts");
  const parts = message.objects("content").flatMap((part): readonly ContentBlock[] => {
    const type = part.text("type");
    switch (type) {
      case "text":
        return readText(part, note);
      case "image_url":
        return [{ ...readImage(part, note), cache: readCacheMark(part, note) }];
      case "file":
        return markedLast([readFile(part, note)], readCacheMark(part, note));
      case "input_audio": {
        note("audio", part.path);
        const audio = part.object("input_audio") ?? part;
        return [{ kind: "audio", data: audio.text("data"), format: audio.text("format") }];
      }
      default:
        throw wrongField(part.at("type"), "text, image_url, file or input_audio");
    }
  });
  return markedLast(parts, readCacheMark(message, note));
}

function readImage(part: RequestObject, note: NoteFeature): ImageBlock {
  const image = part.object("image_url") ?? part;
  const url = image.text("url");
  const source = readDataUrl(url);
  note(source === undefined ? "imageUrl" : "image", image.at("url"));
  const detail = image.optionalText("detail");
  return { kind: "image", source: source ?? { kind: "url", url }, detail };
}

function readFile(part: RequestObject, note: NoteFeature): ContentBlock {
  const file = part.object("file") ?? part;
  const name = file.optionalText("filename");
  const id = file.optionalText("file_id");
  if (id !== undefined) {
    note("fileReference", file.at("file_id"));
    return { kind: "document", source: { kind: "file", id }, name };
  }
  const data = file.text("file_data");
  const source = readFileData(data, name);
  if (source === undefined) throw wrongField(file.at("file_data"), "a data URL or base64");
  note("document", part.path);
  return { kind: "document", source, name };
}

function readAssistant(message: RequestObject, note: NoteFeature): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  const reasoning = message.optionalText("reasoning_content") ?? message.optionalText("reasoning");
  if (reasoning !== undefined && reasoning !== "") {
    note("reasoningReplay", message.at("reasoning_content"));
    const signature = message.optionalText("reasoning_signature");
    blocks.push({ kind: "reasoning", text: reasoning, signature });
  }
  if (typeof message.any("content") === "string") blocks.push(...readTexts(message, note));
  else {
    for (const part of message.objects("content")) {
      const text = part.optionalText("text") ?? part.optionalText("refusal");
      if (text === undefined) throw wrongField(part.at("type"), "text or refusal");
      if (text !== "") blocks.push({ kind: "text", text, cache: readCacheMark(part, note) });
    }
  }
  const refusal = message.optionalText("refusal");
  if (refusal !== undefined && refusal !== "") blocks.push({ kind: "text", text: refusal });
  if (message.any("audio") !== undefined) throw unsupportedField(message.at("audio"));
  return [...blocks, ...message.objects("tool_calls").map(readCall)];
}

function readCall(call: RequestObject): ContentBlock {
  const type = call.optionalText("type") ?? "function";
  const custom = type === "custom" ? call.object("custom") : undefined;
  if (custom !== undefined) {
    const input = JSON.stringify({ input: custom.text("input") });
    return { kind: "tool-call", id: call.text("id"), name: custom.text("name"), input };
  }
  if (type !== "function") throw unsupportedField(call.at("type"), `a tool call of type "${type}"`);
  const called = call.object("function");
  if (called === undefined) throw wrongField(call.at("function"), "an object");
  const name = called.text("name");
  const input = readCallInput(called);
  const google = call.object("extra_content")?.object("google");
  const signature = google?.optionalText("thought_signature");
  return { kind: "tool-call", id: call.text("id"), name, input, signature };
}

function readTools(fields: RequestObject, note: NoteFeature): readonly ListedTool[] {
  return fields.objects("tools").map((tool) => {
    const type = tool.text("type");
    const custom = type === "custom" ? tool.object("custom") : undefined;
    if (custom !== undefined) {
      const isCached = (readCacheMark(tool, note) ?? readCacheMark(custom, note)) !== undefined;
      return { ...freeformTool(custom), isCached };
    }
    if (type !== "function") throw unsupportedField(tool.at("type"), `a tool of type "${type}"`);
    const definition = tool.object("function");
    if (definition === undefined) throw wrongField(tool.at("function"), "an object");
    const mark = readCacheMark(tool, note) ?? readCacheMark(definition, note);
    return { ...readFunctionTool(definition, note), isCached: mark !== undefined };
  });
}

function readWebSearch(fields: RequestObject, note: NoteFeature): WebSearch | undefined {
  const options = fields.object("web_search_options");
  if (options === undefined) return undefined;
  note("webSearch", "web_search_options");
  checkTool(options, SEARCH_MEMBERS, options.path);
  const place = options.object("user_location")?.object("approximate");
  const contextSize = options.optionalText("search_context_size");
  return { ...ANY_SEARCH, location: readLocation(place), contextSize };
}

const SEARCH_MEMBERS: ToolTable = { user_location: "read", search_context_size: "read" };

/** Reads the amount of reasoning, also in the fields of OpenRouter's and Anthropic's clients. */
function readReasoning(fields: RequestObject, note: NoteFeature): Reasoning | undefined {
  const own = readEffort(fields, "reasoning_effort");
  if (own !== undefined) return own;
  const routed = fields.object("reasoning");
  const thinking = fields.object("thinking");
  if (routed !== undefined) {
    note("reasoning", "reasoning");
    for (const name of routed.keys) if (!ROUTED.has(name)) refuseField(routed, name);
    const tokens = routed.number("max_tokens");
    if (routed.boolean("enabled") === false) return { kind: "off" };
    if (tokens !== undefined) return { kind: "budget", tokens };
    const isOn = routed.boolean("enabled") === true;
    return (
      readEffort(routed, "effort") ?? (isOn ? { kind: "effort", effort: "medium" } : undefined)
    );
  }
  if (thinking === undefined) return undefined;
  note("reasoning", "thinking");
  const tokens = thinking.number("budget_tokens");
  const type = thinking.choice("type", ["enabled", "disabled", "adaptive"]);
  if (type === "disabled") return { kind: "off" };
  return tokens === undefined ? { kind: "effort", effort: "high" } : { kind: "budget", tokens };
}

/** Members of OpenRouter's `reasoning`. The reasoning of a response can be ignored. */
const ROUTED: ReadonlySet<string> = new Set(["effort", "max_tokens", "enabled", "exclude"]);

function readStop(fields: RequestObject): readonly string[] {
  const stop = fields.any("stop");
  if (typeof stop === "string") return [stop];
  return fields.texts("stop");
}

function readOutput(fields: RequestObject, note: NoteFeature): OutputFormat | undefined {
  const format = fields.object("response_format");
  switch (format?.choice("type", ["text", "json_object", "json_schema"])) {
    case "json_object":
      note("objectOutput", "response_format");
      return { kind: "object" };
    case "json_schema": {
      note("schemaOutput", "response_format");
      const schema = format.object("json_schema");
      if (schema === undefined) throw wrongField("response_format.json_schema", "an object");
      return readSchemaOutput(schema);
    }
    default:
      return undefined;
  }
}
