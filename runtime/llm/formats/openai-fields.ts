import type { NoteFeature } from "../chat/features.ts";
import { NO_PARAMETERS, objectSchema } from "../chat/object-schema.ts";
import type { ListedTool, OutputFormat, Reasoning, ToolChoice } from "../chat/request.ts";
import { RequestObject, unsupportedField, wrongField } from "../chat/request-object.ts";
import { parseObject } from "./parse-object.ts";

/**
 * Reads the definition of a function that the model may call: `{name, description, parameters, strict}`. Throws LlmRefusal.
 */
export function readFunctionTool(definition: RequestObject, note: NoteFeature): ListedTool {
  const isStrict = definition.boolean("strict");
  if (isStrict === true) note("strictTools", definition.at("strict"));
  return {
    name: definition.text("name"),
    description: definition.optionalText("description"),
    schema: objectSchema(definition.any("parameters")),
    isStrict,
    isCached: false,
  };
}

/** Reads a schema that the completion must follow: `{name, description, schema, strict}`. Throws LlmRefusal. */
export function readSchemaOutput(format: RequestObject): OutputFormat {
  return {
    kind: "schema",
    name: format.text("name"),
    description: format.optionalText("description"),
    schema: format.any("schema") ?? NO_PARAMETERS,
    isStrict: format.boolean("strict"),
  };
}

/**
 * Reads the `arguments` of a call in a conversation: JSON written by the model. It may be broken, and other formats require
 * an object. Throws LlmRefusal.
 */
export function readCallInput(called: RequestObject): string {
  const text = called.optionalText("arguments") ?? "";
  if (text.trim() === "") return "{}";
  if (parseObject(text) !== undefined) return text;
  throw wrongField(called.at("arguments"), "a JSON object as a string");
}

/** Whether the model calls tools, and which. */
export interface ReadToolChoice {
  readonly toolChoice: ToolChoice | undefined;
  /** Names of the only tools that may be called; `undefined` for all. */
  readonly allowed?: readonly string[];
}

/**
 * Reads `tool_choice`. `nameOf`: name of the function for a chosen tool; `undefined` if the provider runs the tool. Throws
 * LlmRefusal.
 */
export function readToolChoice(
  fields: RequestObject,
  note: NoteFeature,
  nameOf: (tool: RequestObject) => string | undefined = nestedName,
): ReadToolChoice {
  const choice = fields.any("tool_choice");
  if (choice === undefined) return { toolChoice: undefined };
  note("toolChoice", "tool_choice");
  if (typeof choice === "string") {
    const kind = fields.choice("tool_choice", ["none", "auto", "required"]) ?? "auto";
    return { toolChoice: { kind } };
  }
  const chosen = RequestObject.of(choice, "tool_choice");
  const type = chosen.text("type");
  if (type !== "allowed_tools") {
    const name = nameOf(chosen);
    if (name === undefined) throw unsupportedField("tool_choice", `a tool_choice of "${type}"`);
    return { toolChoice: { kind: "tool", name } };
  }
  note("allowedTools", "tool_choice");
  const allowed = chosen.object("allowed_tools") ?? chosen;
  const kind = allowed.choice("mode", ["auto", "required"]) ?? "auto";
  const names = allowed.objects("tools").map((tool) => {
    const name = nameOf(tool);
    if (name === undefined) throw unsupportedField(tool.path, "a tool that the provider runs");
    return name;
  });
  return { toolChoice: { kind }, allowed: names };
}

/** Returns the name of a tool of chat completions, which nest it in an object. */
function nestedName(tool: RequestObject): string | undefined {
  const type = tool.text("type");
  if (type !== "function" && type !== "custom") return undefined;
  return (tool.object(type) ?? tool).text("name");
}

/** Reads the reasoning effort, in OpenAI's words. Throws LlmRefusal. */
export function readEffort(fields: RequestObject, name: string): Reasoning | undefined {
  const words = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
  const effort = fields.choice(name, words);
  if (effort === undefined) return undefined;
  return effort === "none" ? { kind: "off" } : { kind: "effort", effort };
}
