import type { NoteFeature } from "../chat/features.ts";
import type { ListedTool, OutputFormat, Reasoning, ToolChoice } from "../chat/request.ts";
import { RequestObject, unsupportedField, wrongField } from "../chat/request-object.ts";
import { parseObject } from "./parse-object.ts";

/** The definition of a function that the model may call: `{name, description, parameters, strict}`. Throws LlmRefusal. */
export function readFunctionTool(definition: RequestObject, note: NoteFeature): ListedTool {
  const isStrict = definition.boolean("strict");
  if (isStrict === true) note("strictTools", definition.at("strict"));
  return {
    name: definition.text("name"),
    description: definition.optionalText("description"),
    schema: definition.any("parameters") ?? noParameters,
    isStrict,
    isCached: false,
  };
}

/** What a tool without parameters takes. */
const noParameters = { type: "object", properties: {} };

/** A schema that the completion has to follow: `{name, description, schema, strict}`. Throws LlmRefusal. */
export function readSchemaOutput(format: RequestObject): OutputFormat {
  return {
    kind: "schema",
    name: format.text("name"),
    description: format.optionalText("description"),
    schema: format.any("schema") ?? noParameters,
    isStrict: format.boolean("strict"),
  };
}

/**
 * The `arguments` of a call in a conversation: JSON text of the model's making. It may be broken, and other formats want
 * an object. Throws LlmRefusal.
 */
export function readCallInput(called: RequestObject): string {
  const text = called.optionalText("arguments") ?? "";
  if (text.trim() === "") return "{}";
  if (parseObject(text) !== undefined) return text;
  throw wrongField(called.at("arguments"), "the text of a JSON object");
}

/** Whether the model calls tools, and which. */
export interface ReadToolChoice {
  readonly toolChoice: ToolChoice | undefined;
  /** The names of the only tools that may be called; undefined: all. */
  readonly allowed?: readonly string[];
}

/** `tool_choice`; what it names stands in an object of its own in chat completions. Throws LlmRefusal. */
export function readToolChoice(fields: RequestObject, note: NoteFeature): ReadToolChoice {
  const choice = fields.any("tool_choice");
  if (choice === undefined) return { toolChoice: undefined };
  note("toolChoice", "tool_choice");
  if (typeof choice === "string") {
    const kind = fields.choice("tool_choice", ["none", "auto", "required"]) ?? "auto";
    return { toolChoice: { kind } };
  }
  const chosen = RequestObject.of(choice, "tool_choice");
  const type = chosen.text("type");
  if (type === "function") {
    const name = chosen.object("function")?.text("name") ?? chosen.text("name");
    return { toolChoice: { kind: "tool", name } };
  }
  if (type !== "allowed_tools") throw unsupportedField("tool_choice", `a tool_choice of "${type}"`);
  note("allowedTools", "tool_choice");
  const allowed = chosen.object("allowed_tools") ?? chosen;
  const kind = allowed.choice("mode", ["auto", "required"]) ?? "auto";
  const names = allowed.objects("tools").map((tool) => {
    return tool.object("function")?.text("name") ?? tool.text("name");
  });
  return { toolChoice: { kind }, allowed: names };
}

/** How hard the model thinks, in OpenAI's words. Throws LlmRefusal. */
export function readEffort(fields: RequestObject, name: string): Reasoning | undefined {
  const words = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
  const effort = fields.choice(name, words);
  if (effort === undefined) return undefined;
  return effort === "none" ? { kind: "off" } : { kind: "effort", effort };
}
