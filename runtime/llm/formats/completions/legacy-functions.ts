import type { JsonObject } from "../../../cel/variables.ts";
import type { ToolCallBlock } from "../../chat/content.ts";
import type { NoteFeature } from "../../chat/features.ts";
import type { ListedTool } from "../../chat/request.ts";
import { type RequestObject, wrongField } from "../../chat/request-object.ts";
import { type ReadToolChoice, readCallInput, readFunctionTool } from "../openai-fields.ts";

/**
 * Whether a request uses `functions`, which chat completions had before `tools`. Its response has at most one call, in
 * `function_call`.
 */
export function hasFunctions({ functions }: JsonObject): boolean {
  return Array.isArray(functions) && functions.length > 0;
}

/** Reads `functions`. Throws LlmRefusal. */
export function readFunctions(fields: RequestObject, note: NoteFeature): readonly ListedTool[] {
  const functions = fields.objects("functions");
  if (functions.length > 0) note("parallelTools", "functions");
  return functions.map((definition) => readFunctionTool(definition, note));
}

/** Reads `function_call` of a request; `undefined` if it is absent. Throws LlmRefusal. */
export function readFunctionChoice(
  fields: RequestObject,
  note: NoteFeature,
): ReadToolChoice | undefined {
  const choice = fields.any("function_call");
  if (choice === undefined) return undefined;
  note("toolChoice", "function_call");
  if (typeof choice === "string") {
    const kind = fields.choice("function_call", ["none", "auto"]) ?? "auto";
    return { toolChoice: { kind } };
  }
  const name = fields.object("function_call")?.text("name") ?? "";
  return { toolChoice: { kind: "tool", name } };
}

/** Gives ids to the function calls of a conversation, which have none, so that other formats find their results. */
export class FunctionCalls {
  #count = 0;
  /** Names of the calls without results so far, by their ids. */
  readonly #open = new Map<string, string>();

  /** Reads `function_call` of a message; none if it is absent. Throws LlmRefusal. */
  read(message: RequestObject): readonly ToolCallBlock[] {
    const called = message.object("function_call");
    if (called === undefined) return [];
    this.#count += 1;
    const id = `call_${this.#count}`;
    const name = called.text("name");
    this.#open.set(id, name);
    return [{ kind: "tool-call", id, name, input: readCallInput(called) }];
  }

  /** Returns the id of the call whose result a message is. Throws LlmRefusal. */
  resultId(message: RequestObject): string {
    const wanted = message.text("name");
    const [id] = [...this.#open].find(([, name]) => name === wanted) ?? [];
    if (id === undefined)
      throw wrongField(message.at("name"), "the name of a function call before it");
    this.#open.delete(id);
    return id;
  }
}
