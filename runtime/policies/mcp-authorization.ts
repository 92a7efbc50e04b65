import type { JwtVariable, McpVariables, RequestVariables } from "../cel/variables.ts";
import type { RepeatingRequest } from "../http/request-readings.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/** What an MCP authorization rule reads. */
export interface McpRuleInput {
  readonly request: RequestVariables;
  readonly jwt: JwtVariable;
  /** The item that is listed or called. */
  readonly mcp: McpVariables;
}

/** What MCP backends ask rules with: an item, and the request as it was received. */
export interface ReceivedItem extends McpRuleInput {
  readonly request: RepeatingRequest;
}

/**
 * Whether an item may be listed and called: the same question both times, so that what is listed is what is callable.
 * The route's MCP backend asks it; an item it refuses does not exist for the client.
 */
export type McpRule = (input: ReceivedItem) => RuleVerdict;

/** The target of the item that a rule is asked about: for targets with rules of their own. */
export function targetOf({ tool, prompt, resource }: McpVariables): string | undefined {
  return (tool ?? prompt ?? resource)?.target;
}
