import type { JsonObject } from "../../../cel/variables.ts";
import type { ChatRequest, ListedTool } from "../../chat/request.ts";
import type { CachePoints } from "./cache-points.ts";
import { modelFamily } from "./model-family.ts";

/** Returns the tools of a request, and the tool choice; `undefined` if it has no tools and its conversation calls none. */
export function toolConfig(
  request: ChatRequest,
  points: CachePoints,
  isThinking: boolean,
): JsonObject | undefined {
  const { tools, toolChoice, turns } = request;
  const isOff = tools.length === 0 || toolChoice?.kind === "none";
  if (isOff) {
    const hadTools = turns.some(({ blocks }) =>
      blocks.some(({ kind }) => kind === "tool-call" || kind === "tool-result"),
    );
    return hadTools ? { tools: [PLACEHOLDER] } : undefined;
  }
  const specs = tools.flatMap((tool): readonly JsonObject[] => [
    { toolSpec: toolSpec(tool) },
    ...points.marked(tool.isCached ? { ttl: undefined } : undefined),
  ]);
  return {
    tools: [...specs, ...points.after("tools", specs)],
    toolChoice:
      serialChoice(request, isThinking) === undefined ? choiceOf(request, isThinking) : undefined,
  };
}

/**
 * Returns Claude's own field for one tool call at a time, which Converse does not have. `undefined` if the client does not
 * require that, or the model does not support it.
 */
export function serialChoice(
  { parallelTools, tools, toolChoice, model }: ChatRequest,
  isThinking: boolean,
): JsonObject | undefined {
  if (parallelTools !== false || tools.length === 0 || toolChoice?.kind === "none")
    return undefined;
  if (modelFamily(model) !== "claude") return undefined;
  const serial = { disable_parallel_tool_use: true };
  if (isThinking || toolChoice === undefined || toolChoice.kind === "auto") {
    return { type: "auto", ...serial };
  }
  return toolChoice.kind === "tool"
    ? { type: "tool", name: toolChoice.name, ...serial }
    : { type: "any", ...serial };
}

/** Claude cannot be forced to call tools while it reasons. */
function choiceOf({ toolChoice }: ChatRequest, isThinking: boolean): JsonObject | undefined {
  if (toolChoice === undefined) return undefined;
  if (toolChoice.kind === "tool" && !isThinking) return { tool: { name: toolChoice.name } };
  return toolChoice.kind === "required" && !isThinking ? { any: {} } : { auto: {} };
}

function toolSpec({ name, description, schema, isStrict }: ListedTool): JsonObject {
  return {
    name,
    ...(description && { description }),
    inputSchema: { json: schema },
    ...(isStrict === true && { strict: true }),
  };
}

/** Converse requires a list of tools for a conversation with tool calls. */
const PLACEHOLDER: JsonObject = {
  toolSpec: {
    name: "no_tool",
    description: "There is no tool to call.",
    inputSchema: { json: { type: "object", properties: {} } },
  },
};
