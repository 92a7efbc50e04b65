import type { JsonObject } from "../../../cel/variables.ts";
import type { ContentBlock, TextBlock, ToolResultBlock } from "../../chat/content.ts";
import { type Feature, noteBlankStop } from "../../chat/features.ts";
import { ANY_PAGE } from "../../chat/hosted-tools.ts";
import { objectSchema } from "../../chat/object-schema.ts";
import {
  type ChatRequest,
  type Effort,
  type ListedTool,
  type OutputFormat,
  type Reasoning,
  type ToolChoice,
  type Turn,
  Turns,
} from "../../chat/request.ts";
import { checkFields, checkTool, refuseField, type ToolTable } from "../../chat/request-fields.ts";
import { unsupportedField, wrongField } from "../../chat/request-object.ts";
import { ANY_SEARCH, type WebSearch } from "../../chat/web-search.ts";
import { GoogleObject } from "./google-object.ts";
import { replayedProgram } from "./hosted-parts.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { readMedia } from "./media.ts";
import { joinedBlocks, readReasoning } from "./replayed-reasoning.ts";
import { generateContentFields, generationFields } from "./request-fields.ts";

/** Reads a request of generateContent, with the model of its path as `model`. Throws LlmRefusal. */
export function readGenerateContentRequest(body: JsonObject): ChatRequest {
  const fields = new GoogleObject(body);
  checkFields(fields, generateContentFields);
  return new GenerateContentReader(fields).read();
}

/** A call whose result has not come. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
}

class GenerateContentReader {
  readonly #fields: GoogleObject;
  readonly #features = new Map<Feature, string>();
  /** Calls without results so far: clients need not send the ids of calls. */
  #calls: readonly OpenCall[] = [];
  /** JSON of the result of each call that has one. */
  readonly #results = new Map<string, string>();
  #count = 0;
  /** The program of the conversation whose output has not come, and the number of those with outputs. */
  #program: GoogleObject | undefined;
  #programs = 0;

  constructor(fields: GoogleObject) {
    this.#fields = fields;
  }

  read(): ChatRequest {
    const fields = this.#fields;
    const config = fields.object("generationConfig") ?? new GoogleObject({}, "generationConfig");
    checkFields(config, generationFields);
    for (const [feature, name] of NOTED) {
      if (config.any(name) !== undefined) this.#note(feature, config.at(name));
    }
    const choices = config.number("candidateCount");
    if (choices !== undefined && choices > 1) this.#note("choices", config.at("candidateCount"));
    const stop = config.texts("stopSequences");
    noteBlankStop(stop, config.at("stopSequences"), this.#note);
    const { toolChoice, allowed } = this.#toolChoice();
    const tools = fields.objects("tools").flatMap((tool) => this.#functions(tool));
    return {
      model: fields.text("model"),
      isStream: fields.boolean("stream") ?? false,
      system: this.#system(),
      turns: this.#turns(),
      tools: allowed === undefined ? tools : tools.filter(({ name }) => allowed.includes(name)),
      webSearch: this.#webSearch(),
      ...this.#hosted(),
      toolChoice,
      parallelTools: undefined,
      maxTokens: config.number("maxOutputTokens"),
      temperature: config.number("temperature"),
      topP: config.number("topP"),
      topK: config.number("topK"),
      frequencyPenalty: config.number("frequencyPenalty"),
      presencePenalty: config.number("presencePenalty"),
      seed: config.number("seed"),
      choices,
      stop,
      output: this.#output(config),
      reasoning: this.#reasoning(config),
      user: undefined,
      features: this.#features,
    };
  }

  readonly #note = (feature: Feature, field: string): void => {
    if (!this.#features.has(feature)) this.#features.set(feature, field);
  };

  #system(): readonly TextBlock[] {
    const parts = this.#fields.object("systemInstruction")?.objects("parts") ?? [];
    return parts.map((part) => ({ kind: "text", text: part.text("text") }));
  }

  #turns(): ChatRequest["turns"] {
    const fields = this.#fields;
    if (!fields.list("contents")?.length) throw wrongField("contents", "a list of contents");
    const turns = new Turns();
    for (const content of fields.objects("contents")) {
      const role = content.choice("role", ["user", "model", "function"]) ?? "user";
      this.#addContent(turns, role === "model" ? "assistant" : "user", content.objects("parts"));
    }
    const program = this.#program;
    if (program !== undefined) throw unsupportedField(program.path, "a program without its output");
    return turns.all;
  }

  /** Adds a message. Programs that Google ran for it are calls of functions with results in other formats. */
  #addContent(turns: Turns, role: Turn["role"], parts: readonly GoogleObject[]): void {
    let said: ContentBlock[] = [];
    turns.add(role, []);
    for (const part of parts) {
      const program = replayedProgram(part, `program_${this.#programs}`);
      if (program === undefined) {
        said.push(...this.#blocks(part));
        continue;
      }
      const isOutput = program.kind === "tool-result";
      if (isOutput && this.#program === undefined)
        throw wrongField(part.path, "the output of a program before it");
      this.#program = isOutput ? undefined : part;
      if (isOutput) this.#programs += 1;
      if (said.length > 0) turns.add(role, said.reduce(joinedBlocks, []));
      said = [];
      turns.add(isOutput ? "user" : "assistant", [program]);
    }
    if (said.length > 0) turns.add(role, said.reduce(joinedBlocks, []));
  }

  #blocks(part: GoogleObject): readonly ContentBlock[] {
    const call = part.object("functionCall");
    if (call !== undefined) return [this.#call(call, part.optionalText("thoughtSignature"))];
    const result = part.object("functionResponse");
    if (result !== undefined) return this.#newResult(result);
    const media = readMedia(part, this.#note);
    if (media !== undefined) return [media];
    for (const name of PARTS_OF_TOOLS) refuseField(part, name);
    const text = part.optionalText("text");
    if (part.boolean("thought") === true) {
      this.#note("reasoningReplay", part.path);
      return readReasoning(text ?? "", part.optionalText("thoughtSignature"));
    }
    if (text === undefined) throw wrongField(part.path, "a text, a file, or a call of a function");
    return text === "" ? [] : [{ kind: "text", text }];
  }

  #call(call: GoogleObject, signature: string | undefined): ContentBlock {
    const name = call.text("name");
    this.#count += 1;
    const id = call.optionalText("id") ?? `call_${this.#count}`;
    this.#calls = [...this.#calls, { id, name }];
    this.#results.delete(id);
    return {
      kind: "tool-call",
      id,
      name,
      input: JSON.stringify(call.any("args") ?? {}),
      signature,
    };
  }

  /** Leaves out the repetition of a result: Gemini CLI repeats those of a resumed session, and other APIs refuse that. */
  #newResult(result: GoogleObject): readonly ContentBlock[] {
    const block = this.#result(result);
    const written = JSON.stringify(block);
    if (this.#results.get(block.id) === written) return [];
    this.#results.set(block.id, written);
    return [block];
  }

  #result(result: GoogleObject): ToolResultBlock {
    const name = result.text("name");
    const id = result.optionalText("id") ?? this.#calls.find((call) => call.name === name)?.id;
    if (id === undefined) throw wrongField(result.at("name"), "the name of a call before it");
    this.#calls = this.#calls.filter((call) => call.id !== id);
    const { output, error } = Object(result.any("response") ?? {});
    const isError = error !== undefined;
    if (isError) this.#note("toolError", result.at("response.error"));
    const said: unknown = error ?? output ?? result.any("response") ?? "";
    const text = typeof said === "string" ? said : JSON.stringify(said);
    const shown = result.objects("parts").flatMap((part) => {
      const media = readMedia(part, this.#note);
      if (media === undefined || media.kind === "audio") throw unsupportedField(part.path);
      this.#note("toolResultMedia", part.path);
      return [media];
    });
    return { kind: "tool-result", id, content: [{ kind: "text", text }, ...shown], isError };
  }

  #functions(tool: GoogleObject): readonly ListedTool[] {
    const other = tool.keys.find((key) => !KNOWN_TOOLS.has(key));
    if (other !== undefined) throw unsupportedField(tool.path, `the tool "${other}"`);
    return tool.objects("functionDeclarations").map((declared) => {
      refuseField(declared, "behavior", ["BLOCKING", "UNSPECIFIED"]);
      return {
        name: declared.text("name"),
        description: declared.optionalText("description"),
        schema: objectSchema(
          declared.any("parametersJsonSchema") ?? jsonSchemaOf(declared.any("parameters")),
        ),
        isStrict: undefined,
        isCached: false,
      };
    });
  }

  #webSearch(): WebSearch | undefined {
    const search = this.#hostedTool("googleSearch");
    if (search === undefined) return undefined;
    this.#note("webSearch", search.path);
    checkTool(search, SEARCH_MEMBERS, search.path);
    const blocked = search.texts("excludeDomains");
    return { ...ANY_SEARCH, ...(blocked.length > 0 && { blockedDomains: blocked }) };
  }

  #hosted(): Pick<ChatRequest, "webFetch" | "runsCode"> {
    const code = this.#hostedTool("codeExecution");
    const fetch = this.#hostedTool("urlContext");
    if (code !== undefined) this.#note("codeExecution", code.path);
    if (fetch !== undefined) this.#note("webFetch", fetch.path);
    for (const tool of [code, fetch]) if (tool !== undefined) checkTool(tool, {}, tool.path);
    return { ...(code && { runsCode: true }), ...(fetch && { webFetch: ANY_PAGE }) };
  }

  #hostedTool(name: string): GoogleObject | undefined {
    const [first, second] = this.#fields
      .objects("tools")
      .flatMap((tool) => tool.object(name) ?? []);
    if (second !== undefined) throw unsupportedField(second.path, `a second tool "${name}"`);
    return first;
  }

  #toolChoice(): { readonly toolChoice?: ToolChoice; readonly allowed?: readonly string[] } {
    const config = this.#fields.object("toolConfig");
    if (config !== undefined) refuseField(config, "retrievalConfig", [{}]);
    const calling = config?.object("functionCallingConfig");
    const mode = calling?.choice("mode", MODES);
    if (calling === undefined) return {};
    const allowed = calling.texts("allowedFunctionNames");
    if (mode !== undefined) this.#note("toolChoice", calling.at("mode"));
    if (mode === "NONE") return { toolChoice: { kind: "none" } };
    const [only, ...more] = allowed;
    if (mode === "ANY" && only !== undefined && more.length === 0) {
      return { toolChoice: { kind: "tool", name: only } };
    }
    if (only !== undefined) this.#note("allowedTools", calling.at("allowedFunctionNames"));
    return {
      toolChoice: { kind: mode === "ANY" ? "required" : "auto" },
      ...(only !== undefined && { allowed }),
    };
  }

  #output(config: GoogleObject): OutputFormat | undefined {
    const schema =
      config.any("responseJsonSchema") ??
      config.any("_responseJsonSchema") ??
      jsonSchemaOf(config.any("responseSchema"), true);
    const type = config.optionalText("responseMimeType") ?? "text/plain";
    const at = config.at("responseMimeType");
    if (schema !== undefined) {
      this.#note("schemaOutput", at);
      const name = "response";
      return { kind: "schema", name, description: undefined, schema, isStrict: true };
    }
    if (type === "text/plain") return undefined;
    if (type !== "application/json") throw unsupportedField(at, `an output of type "${type}"`);
    this.#note("objectOutput", at);
    return { kind: "object" };
  }

  #reasoning(config: GoogleObject): Reasoning | undefined {
    const thinking = config.object("thinkingConfig");
    if (thinking === undefined) return undefined;
    const level = thinking.choice("thinkingLevel", LEVELS);
    const tokens = thinking.number("thinkingBudget");
    const isShown = thinking.boolean("includeThoughts") ?? false;
    const effort = level === undefined ? undefined : EFFORTS[level];
    if (effort === undefined && tokens === undefined) return undefined;
    this.#note("reasoning", thinking.path);
    if (effort !== undefined) return { kind: "effort", effort, isShown };
    if (tokens === 0) return { kind: "off" };
    // A negative budget leaves the amount to the model.
    if (tokens === undefined || tokens < 0) return { kind: "effort", effort: "medium", isShown };
    return { kind: "budget", tokens, isShown };
  }
}

/** Tools that other formats have. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set([
  ...["functionDeclarations", "googleSearch", "codeExecution", "urlContext"],
]);

const SEARCH_MEMBERS: ToolTable = {
  excludeDomains: "read",
  searchTypes: { limitUnless: [{}, { webSearch: {} }] },
};

/** Fields of `generationConfig` that some formats do not have. */
const NOTED = [
  ["temperature", "temperature"],
  ["topP", "topP"],
  ["topK", "topK"],
  ["penalties", "frequencyPenalty"],
  ["penalties", "presencePenalty"],
  ["seed", "seed"],
  ["stop", "stopSequences"],
] as const;

/** Parts of tools that Google runs. */
const PARTS_OF_TOOLS = ["toolCall", "toolResponse"];

const MODES = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] as const;

const LEVELS = ["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"] as const;

const EFFORTS: { readonly [Level in (typeof LEVELS)[number]]: Effort | undefined } = {
  THINKING_LEVEL_UNSPECIFIED: undefined,
  MINIMAL: "minimal",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
};
