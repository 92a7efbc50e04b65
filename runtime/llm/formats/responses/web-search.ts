import type { NoteFeature } from "../../chat/features.ts";
import { checkTool, onlyTool, refuseField, type ToolTable } from "../../chat/request-fields.ts";
import { type RequestObject, unsupportedField } from "../../chat/request-object.ts";
import type { WebSearch } from "../../chat/web-search.ts";
import { readLocation } from "../user-location.ts";

/** Whether a type is that of OpenAI's own search, in any of its versions. */
export function isSearchType(type: unknown): boolean {
  return typeof type === "string" && /^web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d)?$/.test(type);
}

/** Reads the search of a request, of the tools that it lists or has found; `undefined` if it has none. Throws LlmRefusal. */
export function readWebSearch(
  fields: RequestObject,
  tools: readonly RequestObject[],
  note: NoteFeature,
): WebSearch | undefined {
  const tool = onlyTool(tools.filter((each) => isSearchType(each.any("type"))));
  if (tool === undefined) return undefined;
  checkTool(tool, MEMBERS);
  const shown = tool.texts("search_content_types");
  if (!shown.includes("text")) refuseField(tool, "search_content_types", [[]]);
  // Other providers have no pages of their own: their models would search the web in spite of it.
  if (tool.boolean("external_web_access") === false) {
    throw unsupportedField(tool.at("type"), "a web search without access to the web");
  }
  note("webSearch", tool.at("type"));
  const filters = tool.object("filters");
  if (filters !== undefined) checkTool(filters, FILTERS, tool.at("type"));
  const texts = (name: string) =>
    filters?.any(name) === undefined ? undefined : filters.texts(name);
  return {
    maxUses: fields.number("max_tool_calls"),
    allowedDomains: texts("allowed_domains"),
    blockedDomains: texts("blocked_domains"),
    location: readLocation(tool.object("user_location")),
    contextSize: tool.optionalText("search_context_size"),
    isForced: isSearchType(choiceType(fields)),
  };
}

const MEMBERS: ToolTable = {
  type: "read",
  filters: "read",
  user_location: "read",
  external_web_access: "read",
  search_content_types: "read",
  search_context_size: "read",
};

const FILTERS: ToolTable = { allowed_domains: "read", blocked_domains: "read" };

/** Returns the type of the tool that the model has to use; `undefined` if it is free, or the tool is chosen by name. */
function choiceType(fields: RequestObject): unknown {
  const choice = fields.any("tool_choice");
  return typeof choice === "object" ? fields.object("tool_choice")?.any("type") : undefined;
}
