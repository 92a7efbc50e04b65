import type { JsonObject } from "../../../cel/variables.ts";
import type {
  CacheMark,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  MediaSource,
  TextBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import { type Feature, noteBlankStop } from "../../chat/features.ts";
import { objectSchema } from "../../chat/object-schema.ts";
import {
  type ChatRequest,
  type ListedTool,
  type OutputFormat,
  type Reasoning,
  type ToolChoice,
  Turns,
} from "../../chat/request.ts";
import {
  checkFields,
  checkTool,
  onlyTool,
  refuseField,
  refuseIndirect,
} from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import type { WebSearch } from "../../chat/web-search.ts";
import { readCacheMark } from "../cache-mark.ts";
import { readLocation } from "../user-location.ts";
import { clientTool } from "./client-tools.ts";
import { hostedCall, hostedResult, isSearchBlock, isToolSearch } from "./hosted-blocks.ts";
import { isAnthropicHosted, readAnthropicTools, SEARCH_MEMBERS } from "./hosted-tools.ts";
import { messagesFields } from "./request-fields.ts";

/** Reads a request of Anthropic's Messages API. Throws LlmRefusal. */
export function readMessagesRequest(body: JsonObject): ChatRequest {
  const fields = new RequestObject(body);
  checkFields(fields, messagesFields);
  return new MessagesReader(fields).read();
}

class MessagesReader {
  readonly #fields: RequestObject;
  readonly #features = new Map<Feature, string>();

  constructor(fields: RequestObject) {
    this.#fields = fields;
  }

  read(): ChatRequest {
    const fields = this.#fields;
    const system: TextBlock[] = [...this.#texts(fields, "system")];
    const turns = new Turns();
    if (!fields.list("messages")?.length) throw wrongField("messages", "a list of messages");
    for (const message of fields.objects("messages")) {
      const role = message.choice("role", ["user", "assistant", "system"]);
      if (role === undefined) throw wrongField(message.at("role"), "user or assistant");
      if (role === "system") system.push(...this.#texts(message, "content"));
      else this.#addMessage(turns, role, message);
    }
    const choice = fields.object("tool_choice");
    const tools = fields.objects("tools");
    const searching = onlyTool(tools.filter(isSearchTool));
    const webSearch = searching && this.#webSearch(searching, choice);
    const hosted = readAnthropicTools(fields, tools, (feature, field) =>
      this.#note(feature, field),
    );
    const isSerial = choice?.boolean("disable_parallel_tool_use") === true;
    if (isSerial) this.#note("parallelTools", "tool_choice.disable_parallel_tool_use");
    this.#noteField("temperature", "temperature");
    this.#noteField("topP", "top_p");
    this.#noteField("topK", "top_k");
    this.#noteField("stop", "stop_sequences");
    this.#noteField("cacheMarks", "cache_control");
    const stop = fields.texts("stop_sequences");
    noteBlankStop(stop, "stop_sequences", (feature, field) => this.#note(feature, field));
    const user = fields.object("metadata")?.optionalText("user_id");
    if (user !== undefined) this.#note("user", "metadata.user_id");
    return {
      model: fields.text("model"),
      isStream: fields.boolean("stream") ?? false,
      system,
      turns: turns.all,
      tools: tools.filter((tool) => !isHosted(tool)).map((tool) => this.#tool(tool)),
      webSearch,
      ...hosted,
      toolChoice: choice && webSearch?.isForced !== true ? this.#toolChoice(choice) : undefined,
      parallelTools: isSerial ? false : undefined,
      maxTokens: fields.number("max_tokens"),
      temperature: fields.number("temperature"),
      topP: fields.number("top_p"),
      topK: fields.number("top_k"),
      frequencyPenalty: undefined,
      presencePenalty: undefined,
      seed: undefined,
      choices: undefined,
      stop,
      output: this.#output(),
      reasoning: this.#reasoning(),
      user,
      features: this.#features,
    };
  }

  #note(feature: Feature, field: string): void {
    if (!this.#features.has(feature)) this.#features.set(feature, field);
  }

  #noteField(feature: Feature, name: string): void {
    if (this.#fields.any(name) !== undefined) this.#note(feature, name);
  }

  #texts(fields: RequestObject, name: string): readonly TextBlock[] {
    const content = fields.any(name);
    if (content === undefined) return [];
    if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
    return fields.objects(name).map((block) => {
      if (block.text("type") !== "text") throw wrongField(block.at("type"), "text");
      return this.#text(block);
    });
  }

  #text(block: RequestObject): TextBlock {
    return { kind: "text", text: block.text("text"), cache: this.#cache(block) };
  }

  #cache(block: RequestObject): CacheMark | undefined {
    return readCacheMark(block, (feature, field) => this.#note(feature, field));
  }

  /** Adds a message. Calls that servers ran for it become calls of functions with results, which are results of users in other formats. */
  #addMessage(turns: Turns, role: "user" | "assistant", message: RequestObject): void {
    if (typeof message.any("content") === "string") {
      turns.add(role, this.#texts(message, "content"));
      return;
    }
    if (message.list("content") === undefined)
      throw wrongField(message.at("content"), "text or blocks");
    const blocks = message.objects("content").filter((block) => !isSearchBlock(block));
    const results = new Map(
      blocks.flatMap((block) => {
        const result = hostedResult(block);
        return result === undefined ? [] : [[result.id, result] as const];
      }),
    );
    turns.add(role, []);
    for (const block of blocks) {
      const call = hostedCall(block);
      if (call !== undefined) {
        const result = results.get(call.id);
        // The server has not completed the call.
        if (result === undefined) throw unsupportedField(block.path, "a call without its result");
        results.delete(call.id);
        turns.add("assistant", [call]);
        turns.add("user", [result]);
      } else if (hostedResult(block) === undefined) turns.add(role, this.#blocks(block));
    }
    const orphan = blocks.find((block) => results.has(String(block.any("tool_use_id"))));
    if (orphan !== undefined)
      throw wrongField(orphan.at("tool_use_id"), "the id of a call before it");
  }

  #blocks(block: RequestObject): readonly ContentBlock[] {
    return block.any("type") === "search_result" ? this.#found(block) : [this.#block(block)];
  }

  /** Reads what a search of the client has found as text. */
  #found(block: RequestObject): readonly TextBlock[] {
    refuseField(block, "citations", [{ enabled: false }]);
    const from = `${block.text("title")} (${block.text("source")}):`;
    const texts = block.objects("content").map((part) => this.#text(part));
    const last = this.#cache(block);
    return [
      { kind: "text", text: from },
      ...texts.slice(0, -1),
      ...texts.slice(-1).map((text) => (last === undefined ? text : { ...text, cache: last })),
    ];
  }

  #block(block: RequestObject): ContentBlock {
    const type = block.text("type");
    switch (type) {
      case "text":
        return this.#text(block);
      case "image":
        return this.#image(block);
      case "document":
        return this.#document(block);
      case "tool_use":
        return {
          kind: "tool-call",
          id: block.text("id"),
          name: block.text("name"),
          input: JSON.stringify(block.any("input") ?? {}),
          cache: this.#cache(block),
        };
      case "tool_result":
        return this.#result(block);
      case "thinking": {
        this.#note("reasoningReplay", block.path);
        const signature = block.optionalText("signature");
        return { kind: "reasoning", text: block.text("thinking"), signature };
      }
      case "redacted_thinking":
        this.#note("reasoningReplay", block.path);
        return { kind: "redacted-reasoning", data: block.text("data") };
      default:
        throw unsupportedField(block.at("type"), `a block of type "${type}"`);
    }
  }

  #result(block: RequestObject): ToolResultBlock {
    const content = block.any("content");
    const isError = block.boolean("is_error") ?? false;
    if (isError) this.#note("toolError", block.at("is_error"));
    const blocks =
      content === undefined || typeof content === "string"
        ? this.#texts(block, "content")
        : block.objects("content").flatMap((each) => this.#resultBlocks(each));
    return {
      kind: "tool-result",
      id: block.text("tool_use_id"),
      content: blocks,
      isError,
      cache: this.#cache(block),
    };
  }

  #resultBlocks(block: RequestObject): readonly (TextBlock | ImageBlock | DocumentBlock)[] {
    const type = block.text("type");
    if (type === "text") return [this.#text(block)];
    if (type === "search_result") return this.#found(block);
    // A search of the client for tools: all of them are listed.
    if (type === "tool_reference")
      return [{ kind: "text", text: `Tool: ${block.text("tool_name")}` }];
    this.#note("toolResultMedia", block.path);
    if (type === "image") return [this.#image(block)];
    if (type === "document") return [this.#document(block)];
    throw unsupportedField(block.at("type"), `a result of type "${type}"`);
  }

  #image(block: RequestObject): ImageBlock {
    const source = block.object("source");
    if (source === undefined) throw wrongField(block.at("source"), "an object");
    const media = this.#media(source, "image", "imageUrl");
    return { kind: "image", source: media, cache: this.#cache(block) };
  }

  #document(block: RequestObject): DocumentBlock {
    const source = block.object("source");
    if (source === undefined) throw wrongField(block.at("source"), "an object");
    refuseField(block, "context");
    refuseField(block, "citations", [{ enabled: false }]);
    const name = block.optionalText("title");
    const cache = this.#cache(block);
    const text = this.#documentText(source);
    if (text !== undefined) {
      this.#note("document", source.path);
      return { kind: "document", source: { kind: "text", text }, name, cache };
    }
    return {
      kind: "document",
      source: this.#media(source, "document", "documentUrl"),
      name,
      cache,
    };
  }

  #documentText(source: RequestObject): string | undefined {
    const type = source.text("type");
    if (type === "text") return source.text("data");
    if (type !== "content") return undefined;
    return this.#texts(source, "content")
      .map(({ text }) => text)
      .join("\n\n");
  }

  #media(source: RequestObject, inline: Feature, byUrl: Feature): MediaSource {
    const type = source.text("type");
    switch (type) {
      case "base64":
        this.#note(inline, source.path);
        return { kind: "base64", mediaType: source.text("media_type"), data: source.text("data") };
      case "url":
        this.#note(byUrl, source.at("url"));
        return { kind: "url", url: source.text("url") };
      case "file":
        this.#note("fileReference", source.at("file_id"));
        return { kind: "file", id: source.text("file_id") };
      default:
        throw unsupportedField(source.at("type"), `a source of type "${type}"`);
    }
  }

  #webSearch(tool: RequestObject, choice: RequestObject | undefined): WebSearch {
    this.#note("webSearch", tool.at("type"));
    checkTool(tool, SEARCH_MEMBERS);
    refuseIndirect(tool);
    const texts = (name: string) => (tool.any(name) === undefined ? undefined : tool.texts(name));
    return {
      maxUses: tool.number("max_uses"),
      allowedDomains: texts("allowed_domains"),
      blockedDomains: texts("blocked_domains"),
      location: readLocation(tool.object("user_location")),
      contextSize: undefined,
      isForced: choice?.any("name") === tool.text("name"),
    };
  }

  #tool(tool: RequestObject): ListedTool {
    const type = tool.optionalText("type") ?? "custom";
    const known = clientTool(type);
    if (type !== "custom" && known === undefined)
      throw unsupportedField(tool.at("type"), `a tool of type "${type}"`);
    refuseIndirect(tool);
    const isStrict = tool.boolean("strict");
    if (isStrict === true) this.#note("strictTools", tool.at("strict"));
    return {
      name: tool.text("name"),
      description: known?.description ?? tool.optionalText("description"),
      schema: known?.schema ?? objectSchema(tool.any("input_schema")),
      isStrict,
      isCached: this.#cache(tool) !== undefined,
    };
  }

  #toolChoice(choice: RequestObject): ToolChoice {
    this.#note("toolChoice", "tool_choice");
    const type = choice.choice("type", ["auto", "any", "tool", "none"]);
    switch (type) {
      case "any":
        return { kind: "required" };
      case "tool": {
        const name = choice.text("name");
        const tools = this.#fields.objects("tools").filter(isHosted);
        if (tools.some((tool) => tool.any("name") === name))
          throw unsupportedField("tool_choice", "a choice of a tool that the provider runs");
        return { kind: "tool", name };
      }
      default:
        return { kind: type ?? "auto" };
    }
  }

  #output(): OutputFormat | undefined {
    const config = this.#fields.object("output_config");
    const format = config?.object("format") ?? this.#fields.object("output_format");
    if (format === undefined) return undefined;
    if (format.text("type") !== "json_schema") throw wrongField(format.at("type"), "json_schema");
    this.#note("schemaOutput", format.path);
    return {
      kind: "schema",
      name: "response",
      description: undefined,
      schema: format.any("schema") ?? {},
      isStrict: true,
    };
  }

  #reasoning(): Reasoning | undefined {
    const words = ["low", "medium", "high", "xhigh", "max"] as const;
    const effort = this.#fields.object("output_config")?.choice("effort", words);
    const thinking = this.#fields.object("thinking");
    const type = thinking?.choice("type", ["enabled", "disabled", "adaptive"]);
    if (type !== undefined || effort !== undefined) {
      this.#note("reasoning", type === undefined ? "output_config.effort" : "thinking");
    }
    const isShown = thinking?.any("display") !== "omitted";
    switch (type) {
      case "disabled":
        return { kind: "off" };
      case "enabled":
        return { kind: "budget", tokens: thinking?.number("budget_tokens") ?? 1024, isShown };
      case "adaptive":
        return { kind: "effort", effort: effort ?? "high", isShown };
      default:
        return effort && { kind: "effort", effort };
    }
  }
}

/** Whether Anthropic's servers run a tool. */
function isHosted(tool: RequestObject): boolean {
  const type = tool.optionalText("type") ?? "";
  return isSearchTool(tool) || isToolSearch(type) || isAnthropicHosted(type);
}

/** Whether a tool is Anthropic's own search of the web, in any of its versions. */
function isSearchTool(tool: RequestObject): boolean {
  return /^web_search_\d+$/.test(tool.optionalText("type") ?? "");
}
