import type { FitSchema, FittedSchema } from "../chat/fitted-schema.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatRequest, ListedTool } from "../chat/request.ts";
import type { ChatResponse } from "../chat/response.ts";

/**
 * Converts the schemas of a request that the provider enforces. `note` gets the check of the output, if keywords of its schema
 * are not enforced.
 */
export function withFittedSchemas(
  request: ChatRequest,
  fitSchema: FitSchema,
  note: (check: NonNullable<FittedSchema["check"]>) => void,
): ChatRequest {
  const { output, tools, features } = request;
  const fitted = { ...request, tools: tools.map((tool) => fittedTool(tool, fitSchema)) };
  if (output?.kind !== "schema") return fitted;
  const field = features.get("schemaOutput") ?? "model";
  const { schema, isStrict, check } = fitSchema({ ...output, field });
  if (check !== undefined) note(check);
  return { ...fitted, output: { ...output, schema, isStrict } };
}

/** A tool whose schema cannot be enforced is offered without that. */
function fittedTool(tool: ListedTool, fitSchema: FitSchema): ListedTool {
  if (tool.isStrict !== true) return tool;
  try {
    const { schema, isStrict } = fitSchema({ ...tool, field: "tools" });
    return { ...tool, schema, isStrict };
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    return { ...tool, isStrict: undefined };
  }
}

/** Returns the place where a complete output breaks its schema; `undefined` if it does not, or is incomplete. */
export function outputWarning(
  { blocks, stop }: ChatResponse,
  check: NonNullable<FittedSchema["check"]>,
): string | undefined {
  if (stop !== "end") return undefined;
  const text = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("");
  try {
    const problem = check(JSON.parse(text));
    return problem && `the output breaks its schema: ${problem}`;
  } catch {
    return "the output is not JSON";
  }
}
