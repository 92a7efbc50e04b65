import type { FitSchema, SchemaCheck } from "../chat/fitted-schema.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatRequest, ListedTool } from "../chat/request.ts";
import { schemaViolation } from "../chat/schema-violation.ts";
import type { SchemaChecks } from "./schema-checks.ts";

/** Converts the schemas of requests to what a provider accepts. */
export interface SchemaFitting {
  readonly fitSchema: FitSchema;
  /** Whether the schemas of all tools are converted, instead of those that are enforced. */
  readonly fitsAllTools: boolean;
}

/** A request whose schemas the provider accepts. */
export interface FittedRequest {
  readonly request: ChatRequest;
  /** Checks of the response; absent if the provider enforces all schemas that it is to enforce. */
  readonly checks?: SchemaChecks;
}

/** Converts the schemas of a request that the provider enforces. */
export function withFittedSchemas(request: ChatRequest, fitting: SchemaFitting): FittedRequest {
  const { fitSchema, fitsAllTools } = fitting;
  const { output, tools, features } = request;
  const fitted = { ...request, tools: tools.map((tool) => fittedTool(tool, fitSchema)) };
  const checked = tools.filter(({ isStrict }) => fitsAllTools || isStrict === true);
  const ofTool = (name: string) => {
    const tool = checked.find((each) => each.name === name);
    return tool && toolCheck(tool, fitSchema);
  };
  const ofTools = checked.length > 0 && { checks: { ofTool } };
  if (output?.kind !== "schema") return { request: fitted, ...ofTools };
  const field = features.get("schemaOutput") ?? "model";
  const { schema, isStrict, check } = fitSchema({ ...output, field });
  const written = { ...fitted, output: { ...output, schema, isStrict } };
  if (check === undefined) return { request: written, ...ofTools };
  return { request: written, checks: { ofOutput: check, ofTool } };
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

/** Returns the check of the inputs of a tool; `undefined` if the provider enforces its schema. */
function toolCheck(tool: ListedTool, fitSchema: FitSchema): SchemaCheck | undefined {
  try {
    return fitSchema({ ...tool, field: "tools" }).check;
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    return (value) => schemaViolation(value, tool.schema);
  }
}
