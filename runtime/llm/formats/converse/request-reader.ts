import type { JsonObject } from "../../../cel/variables.ts";
import type { ContentBlock, TextBlock } from "../../chat/content.ts";
import { type Feature, noteBlankStop } from "../../chat/features.ts";
import {
  type ChatRequest,
  type ListedTool,
  type OutputFormat,
  type Reasoning,
  type ToolChoice,
  Turns,
} from "../../chat/request.ts";
import { checkFields, refuseField } from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { parseObject } from "../parse-object.ts";
import { ConverseContent, readCachePoint } from "./content-reader.ts";
import { converseFields, inferenceFields, ownModelFields } from "./request-fields.ts";

/** Reads a request of Bedrock's Converse, with the model of its path as `model`. Throws LlmRefusal. */
export function readConverseRequest(body: JsonObject): ChatRequest {
  const fields = new RequestObject(body);
  checkFields(fields, converseFields);
  return new ConverseReader(fields).read();
}

class ConverseReader {
  readonly #fields: RequestObject;
  readonly #features = new Map<Feature, string>();
  readonly #content: ConverseContent;
  /** Fields of the model itself. */
  readonly #own: RequestObject;

  constructor(fields: RequestObject) {
    this.#fields = fields;
    this.#content = new ConverseContent(this.#note);
    this.#own = objectOf(fields, "additionalModelRequestFields");
  }

  read(): ChatRequest {
    const fields = this.#fields;
    const inference = objectOf(fields, "inferenceConfig");
    checkFields(inference, inferenceFields);
    checkFields(this.#own, ownModelFields);
    for (const [feature, name] of NOTED) {
      if (inference.any(name) !== undefined) this.#note(feature, inference.at(name));
    }
    const stop = inference.texts("stopSequences");
    noteBlankStop(stop, inference.at("stopSequences"), this.#note);
    const { toolChoice, isSerial } = this.#toolChoice();
    return {
      model: fields.text("model"),
      isStream: fields.boolean("stream") ?? false,
      system: this.#system(),
      turns: this.#turns(),
      tools: this.#tools(),
      toolChoice,
      parallelTools: isSerial ? false : undefined,
      maxTokens: inference.number("maxTokens"),
      temperature: inference.number("temperature"),
      topP: inference.number("topP"),
      topK: this.#topK(),
      frequencyPenalty: undefined,
      presencePenalty: undefined,
      seed: undefined,
      choices: undefined,
      stop,
      output: this.#output(),
      reasoning: this.#reasoning(),
      user: undefined,
      features: this.#features,
    };
  }

  readonly #note = (feature: Feature, field: string): void => {
    if (!this.#features.has(feature)) this.#features.set(feature, field);
  };

  #system(): readonly TextBlock[] {
    const blocks = this.#content.blocks(this.#fields.objects("system"));
    return blocks.map((block) => {
      if (block.kind === "text") return block;
      throw wrongField("system", "a list of texts");
    });
  }

  #turns(): ChatRequest["turns"] {
    const fields = this.#fields;
    if (!fields.list("messages")?.length) throw wrongField("messages", "a list of messages");
    const turns = new Turns();
    for (const message of fields.objects("messages")) {
      const role = message.choice("role", ["user", "assistant"]);
      if (role === undefined) throw wrongField(message.at("role"), "user or assistant");
      const blocks: readonly ContentBlock[] = this.#content.blocks(message.objects("content"));
      turns.add(role, blocks);
    }
    return turns.all;
  }

  #tools(): readonly ListedTool[] {
    const tools: ListedTool[] = [];
    for (const tool of this.#fields.object("toolConfig")?.objects("tools") ?? []) {
      const spec = tool.object("toolSpec");
      const last = tools.at(-1);
      if (spec !== undefined) tools.push(this.#tool(spec));
      else if (readCachePoint(tool, this.#note) === undefined) {
        const [kind = ""] = tool.keys;
        throw unsupportedField(tool.path, `a tool of type "${kind}"`);
      } else if (last !== undefined) tools[tools.length - 1] = { ...last, isCached: true };
    }
    return tools;
  }

  #tool(spec: RequestObject): ListedTool {
    const isStrict = spec.boolean("strict");
    if (isStrict === true) this.#note("strictTools", spec.at("strict"));
    return {
      name: spec.text("name"),
      description: spec.optionalText("description"),
      schema: spec.object("inputSchema")?.any("json") ?? { type: "object", properties: {} },
      isStrict,
      isCached: false,
    };
  }

  /** Claude's own field takes precedence: it can require one call at a time. */
  #toolChoice(): { readonly toolChoice: ToolChoice | undefined; readonly isSerial: boolean } {
    const own = this.#own.object("tool_choice");
    const isSerial = own?.boolean("disable_parallel_tool_use") === true;
    if (isSerial) this.#note("parallelTools", this.#own.at("tool_choice"));
    const choice = this.#fields.object("toolConfig")?.object("toolChoice");
    const at = own ?? choice;
    if (at === undefined) return { toolChoice: undefined, isSerial };
    this.#note("toolChoice", at.path);
    return { toolChoice: own === undefined ? choiceOf(at) : claudeChoice(own), isSerial };
  }

  #topK(): number | undefined {
    const claude = this.#own.number("top_k");
    if (claude !== undefined) this.#note("topK", this.#own.at("top_k"));
    const inference = this.#own.object("inferenceConfig");
    if (inference === undefined) return claude;
    checkFields(inference, { topK: "read" });
    this.#note("topK", inference.at("topK"));
    return inference.number("topK") ?? claude;
  }

  #output(): OutputFormat | undefined {
    const format = this.#fields.object("outputConfig")?.object("textFormat");
    if (format === undefined) return undefined;
    if (format.text("type") !== "json_schema") throw wrongField(format.at("type"), "json_schema");
    const given = format.object("structure")?.object("jsonSchema");
    const schema = parseObject(given?.text("schema") ?? "");
    if (schema === undefined) throw wrongField(format.at("structure"), "a JSON Schema as a string");
    this.#note("schemaOutput", format.path);
    return {
      kind: "schema",
      name: given?.optionalText("name") ?? "response",
      description: given?.optionalText("description"),
      schema,
      isStrict: true,
    };
  }

  #reasoning(): Reasoning | undefined {
    const config = this.#fields.object("outputConfig");
    const own = this.#own.object("output_config");
    const given = config?.any("effort") === undefined ? own : config;
    const effort = given?.choice("effort", EFFORTS);
    const thinking = this.#own.object("thinking");
    const type = thinking?.choice("type", ["enabled", "disabled", "adaptive"]);
    if (type === undefined && effort === undefined) return undefined;
    this.#note(
      "reasoning",
      type === undefined ? (given?.at("effort") ?? "") : (thinking?.path ?? ""),
    );
    if (type === "disabled") return { kind: "off" };
    if (type === "enabled") {
      return { kind: "budget", tokens: thinking?.number("budget_tokens") ?? 1024, isShown: true };
    }
    return { kind: "effort", effort: effort ?? "high", isShown: true };
  }
}

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** Fields of `inferenceConfig` that some formats do not have. */
const NOTED = [
  ["temperature", "temperature"],
  ["topP", "topP"],
  ["stop", "stopSequences"],
] as const;

function objectOf(fields: RequestObject, name: string): RequestObject {
  return fields.object(name) ?? new RequestObject({}, name);
}

function choiceOf(choice: RequestObject): ToolChoice {
  const tool = choice.object("tool");
  if (tool !== undefined) return { kind: "tool", name: tool.text("name") };
  if (choice.any("any") !== undefined) return { kind: "required" };
  if (choice.any("auto") !== undefined) return { kind: "auto" };
  throw wrongField(choice.path, "auto, any or tool");
}

function claudeChoice(choice: RequestObject): ToolChoice {
  for (const name of choice.keys) {
    if (!CHOICE_FIELDS.has(name)) refuseField(choice, name);
  }
  const type = choice.choice("type", ["auto", "any", "tool", "none"]) ?? "auto";
  if (type === "tool") return { kind: "tool", name: choice.text("name") };
  return { kind: type === "any" ? "required" : type };
}

const CHOICE_FIELDS: ReadonlySet<string> = new Set(["type", "name", "disable_parallel_tool_use"]);
