import type { JsonObject } from "../../../cel/variables.ts";
import type {
  ContentBlock,
  DocumentBlock,
  MediaSource,
  TextBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import type { Feature, NoteFeature } from "../../chat/features.ts";
import { type ChatRequest, type OutputFormat, Turns } from "../../chat/request.ts";
import { checkFields } from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { readDataUrl, readFileData } from "../data-url.ts";
import {
  type ReadToolChoice,
  readEffort,
  readSchemaOutput,
  readToolChoice,
} from "../openai-fields.ts";
import { idOf, readAgentCall, readAgentOutput } from "./agent-calls.ts";
import { agentToolName, readAgentTools, toolLists } from "./agent-tools.ts";
import {
  checkApproval,
  type HostedCall,
  readApprovalRequest,
  readGeneratedImage,
  readHostedCall,
} from "./hosted-items.ts";
import { readOpenAiTools } from "./hosted-tools.ts";
import { readReplay } from "./replay.ts";
import { responsesFields } from "./request-fields.ts";
import { readWebSearch } from "./web-search.ts";

/** Reads a request of OpenAI's Responses API. Throws LlmRefusal. */
export function readResponsesRequest(body: JsonObject): ChatRequest {
  const fields = new RequestObject(body);
  checkFields(fields, responsesFields);
  return new ResponsesReader(fields).read();
}

class ResponsesReader {
  readonly #fields: RequestObject;
  readonly #features = new Map<Feature, string>();
  readonly #system: TextBlock[] = [];
  readonly #turns = new Turns();
  /** Signature that the provider expects back with the next call. */
  #callSignature: string | undefined;

  constructor(fields: RequestObject) {
    this.#fields = fields;
  }

  read(): ChatRequest {
    const fields = this.#fields;
    this.#checkIncluded();
    this.#readInput();
    for (const [feature, name] of NOTED) {
      if (fields.any(name) !== undefined) this.#note(feature, name);
    }
    const parallelTools = fields.boolean("parallel_tool_calls");
    if (parallelTools === false) this.#note("parallelTools", "parallel_tool_calls");
    const listed = toolLists(fields).flat();
    const webSearch = readWebSearch(fields, listed, this.#note);
    const hosted = readOpenAiTools(listed, this.#note);
    const { toolChoice, allowed } =
      webSearch?.isForced === true ? NO_CHOICE : readToolChoice(fields, this.#note, agentToolName);
    const reasoning = fields.object("reasoning");
    const effort = reasoning && readEffort(reasoning, "effort");
    if (effort !== undefined) this.#note("reasoning", "reasoning.effort");
    const tools = listed.flatMap((tool) =>
      readAgentTools(tool, this.#note).map(({ listed: read }) => read),
    );
    return {
      model: fields.text("model"),
      isStream: fields.boolean("stream") ?? false,
      system: this.#system,
      turns: this.#turns.all,
      tools: allowed === undefined ? tools : tools.filter(({ name }) => allowed.includes(name)),
      webSearch,
      ...hosted,
      toolChoice,
      parallelTools,
      maxTokens: fields.number("max_output_tokens"),
      temperature: fields.number("temperature"),
      topP: fields.number("top_p"),
      topK: undefined,
      frequencyPenalty: undefined,
      presencePenalty: undefined,
      seed: undefined,
      choices: undefined,
      stop: [],
      output: this.#output(),
      reasoning: effort,
      user: fields.optionalText("safety_identifier") ?? fields.optionalText("user"),
      features: this.#features,
    };
  }

  readonly #note: NoteFeature = (feature, field) => {
    if (!this.#features.has(feature)) this.#features.set(feature, field);
  };

  /** Other included data concerns tools that no other provider has, and reasoning, which is always included. */
  #checkIncluded(): void {
    const included = this.#fields.texts("include");
    const at = included.indexOf("message.output_text.logprobs");
    if (at !== -1) throw unsupportedField(`include[${at}]`);
  }

  #readInput(): void {
    const fields = this.#fields;
    const instructions = fields.optionalText("instructions") ?? "";
    if (instructions !== "") this.#system.push({ kind: "text", text: instructions });
    const input = fields.any("input");
    if (typeof input === "string") this.#turns.add("user", [{ kind: "text", text: input }]);
    else if (!Array.isArray(input)) throw wrongField("input", "a string or a list");
    else for (const item of fields.objects("input")) this.#readItem(item);
  }

  #readItem(item: RequestObject): void {
    const type = item.optionalText("type") ?? "message";
    switch (type) {
      case "message":
        this.#readMessage(item);
        break;
      case "reasoning":
        this.#readReasoning(item);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
        this.#addResult(item, this.#result(item));
        break;
      case "shell_call_output":
      case "apply_patch_call_output":
        this.#addResult(item, readAgentOutput(item), item.any("status") === "failed");
        break;
      case "tool_search_output":
        if (item.any("call_id") !== undefined) this.#addResult(item, foundTools(item));
        break;
      // A search by OpenAI's servers, whose results are part of the model's text, and a list of tools that they can call.
      case "web_search_call":
      case "mcp_list_tools":
        break;
      case "mcp_approval_request":
        this.#addHosted(readApprovalRequest(item, this.#fields.objects("input")));
        break;
      case "mcp_approval_response":
        checkApproval(item, this.#fields.objects("input"));
        break;
      case "image_generation_call":
        this.#addGenerated(item);
        break;
      case "item_reference":
        throw unsupportedField(item.path, "a reference to an item that the provider stores");
      default:
        this.#readCall(item, type);
    }
  }

  #readCall(item: RequestObject, type: string): void {
    // Without an id, OpenAI's servers ran it.
    if (type === "tool_search_call" && item.any("call_id") === undefined) return;
    const hosted = readHostedCall(item);
    if (hosted !== undefined) {
      this.#addHosted(hosted);
      return;
    }
    const call = readAgentCall(item);
    if (call === undefined) throw unsupportedField(item.at("type"), `an item of type "${type}"`);
    const signature = this.#callSignature;
    this.#callSignature = undefined;
    this.#turns.add("assistant", [{ kind: "tool-call", ...call, signature }]);
  }

  /** Adds a call that a server ran, with its result; nothing without a call. */
  #addHosted(hosted: HostedCall | undefined): void {
    if (hosted === undefined) return;
    this.#turns.add("assistant", [hosted.call]);
    this.#turns.add("user", [hosted.result]);
  }

  #addGenerated(item: RequestObject): void {
    const blocks = readGeneratedImage(item);
    if (blocks.length === 0) return;
    this.#note("image", item.at("result"));
    this.#turns.add("user", blocks);
  }

  #addResult(item: RequestObject, content: ToolResultBlock["content"], isError = false): void {
    if (isError) this.#note("toolError", item.at("status"));
    this.#turns.add("user", [{ kind: "tool-result", id: idOf(item), content, isError }]);
  }

  #readMessage(message: RequestObject): void {
    const role = message.choice("role", ["user", "assistant", "system", "developer"]);
    switch (role) {
      case "user":
        this.#turns.add("user", this.#parts(message, "content"));
        break;
      case "assistant":
        this.#turns.add("assistant", readTexts(message, ["output_text", "refusal"]));
        break;
      case undefined:
        throw wrongField(message.at("role"), "user, assistant, system or developer");
      default:
        this.#system.push(...readTexts(message, ["input_text"]));
    }
  }

  #readReasoning(item: RequestObject): void {
    this.#note("reasoningReplay", item.path);
    const replay = readReplay(item.optionalText("encrypted_content"));
    if (replay?.kind === "call") {
      this.#callSignature = replay.value;
    } else if (replay?.kind === "redacted") {
      this.#turns.add("assistant", [{ kind: "redacted-reasoning", data: replay.value }]);
    } else {
      const shown = [...item.objects("summary"), ...item.objects("content")];
      const text = shown.map((part) => part.text("text")).join("\n\n");
      // Reasoning that another server encrypted is useless to the provider.
      if (text === "" && replay === undefined) return;
      this.#turns.add("assistant", [{ kind: "reasoning", text, signature: replay?.value }]);
    }
  }

  #result(item: RequestObject): ToolResultBlock["content"] {
    return this.#parts(item, "output").map((block) => {
      if (block.kind === "text") return block;
      this.#note("toolResultMedia", item.at("output"));
      if (block.kind === "image" || block.kind === "document") return block;
      throw wrongField(item.at("output"), "texts, images and files");
    });
  }

  #parts(item: RequestObject, name: string): readonly ContentBlock[] {
    if (typeof item.any(name) === "string") return [{ kind: "text", text: item.text(name) }];
    if (item.list(name) === undefined) throw wrongField(item.at(name), "a string or a list");
    return item.objects(name).map((part): ContentBlock => {
      const type = part.text("type");
      switch (type) {
        case "input_text":
          return { kind: "text", text: part.text("text") };
        case "input_image":
          return {
            kind: "image",
            source: this.#image(part),
            detail: part.optionalText("detail"),
          };
        case "input_file":
          return this.#file(part);
        case "input_audio": {
          this.#note("audio", part.path);
          const audio = part.object("input_audio") ?? part;
          return { kind: "audio", data: audio.text("data"), format: audio.text("format") };
        }
        default:
          throw wrongField(part.at("type"), "input_text, input_image, input_file or input_audio");
      }
    });
  }

  #image(part: RequestObject): MediaSource {
    const id = part.optionalText("file_id");
    if (id !== undefined) return this.#uploaded(part, id);
    const url = part.text("image_url");
    const source = readDataUrl(url);
    this.#note(source === undefined ? "imageUrl" : "image", part.at("image_url"));
    return source ?? { kind: "url", url };
  }

  #file(part: RequestObject): DocumentBlock {
    const name = part.optionalText("filename");
    const id = part.optionalText("file_id");
    if (id !== undefined) return { kind: "document", source: this.#uploaded(part, id), name };
    const url = part.optionalText("file_url");
    if (url !== undefined) {
      this.#note("documentUrl", part.at("file_url"));
      return { kind: "document", source: { kind: "url", url }, name };
    }
    const source = readFileData(part.text("file_data"), name);
    if (source === undefined) throw wrongField(part.at("file_data"), "a data URL or base64");
    this.#note("document", part.at("file_data"));
    return { kind: "document", source, name };
  }

  #uploaded(part: RequestObject, id: string): MediaSource {
    this.#note("fileReference", part.at("file_id"));
    return { kind: "file", id };
  }

  #output(): OutputFormat | undefined {
    const format = this.#fields.object("text")?.object("format");
    switch (format?.choice("type", ["text", "json_object", "json_schema"])) {
      case "json_object":
        this.#note("objectOutput", format.path);
        return { kind: "object" };
      case "json_schema":
        this.#note("schemaOutput", format.path);
        return readSchemaOutput(format);
      default:
        return undefined;
    }
  }
}

const NO_CHOICE: ReadToolChoice = { toolChoice: undefined };

/** Fields that some formats do not have. */
const NOTED = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["user", "user"],
  ["user", "safety_identifier"],
] as const;

/** Returns the names of the tools that a search has found: from then on, they are listed. */
function foundTools(item: RequestObject): readonly TextBlock[] {
  const read = item.objects("tools").flatMap((tool) => readAgentTools(tool, () => {}));
  const names = read.map(({ listed }) => listed.name);
  return [{ kind: "text", text: names.length === 0 ? "No tools." : `Tools: ${names.join(", ")}` }];
}

/** Reads the content of a message that may only have text. */
function readTexts(message: RequestObject, types: readonly string[]): readonly TextBlock[] {
  if (typeof message.any("content") === "string") {
    const text = message.text("content");
    return text === "" ? [] : [{ kind: "text", text }];
  }
  return message.objects("content").flatMap((part) => {
    const type = part.text("type");
    if (!types.includes(type)) throw wrongField(part.at("type"), types.join(" or "));
    const text = part.text(type === "refusal" ? "refusal" : "text");
    return text === "" ? [] : [{ kind: "text" as const, text }];
  });
}
