import type { McpVariables } from "../cel/variables.ts";
import type { RuleInput } from "./authorization.ts";

/** What an MCP authorization rule reads: the request's rules' input, and the item that is listed or called. */
export interface McpRuleInput extends RuleInput {
  readonly mcp: McpVariables;
}

/**
 * Whether an item may be listed and called: the same question both times, so that what is listed is what is callable.
 * The route's MCP backend asks it; an item it refuses does not exist for the client.
 */
export type McpRule = (input: McpRuleInput) => boolean;
