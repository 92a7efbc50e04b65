import type { JwtVariable, McpVariables, RequestVariables } from "../cel/variables.ts";
import type { RepeatingRequest } from "../http/request-readings.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/** The variables of an MCP authorization rule. */
export interface McpRuleInput {
  readonly request: RequestVariables;
  readonly jwt: JwtVariable;
  /** The item that is listed or called. */
  readonly mcp: McpVariables;
}

/** The variables for an item, with the request as it was received. */
export interface ReceivedItem extends McpRuleInput {
  readonly request: RepeatingRequest;
}

/**
 * Decides whether an item may be listed and called. Both use the same rule, so that exactly the listed items are callable.
 * Called by the route's MCP backend; an item that it refuses does not exist for the client.
 */
export type McpRule = (input: ReceivedItem) => RuleVerdict;

/** Returns the target of the item in question, for targets with their own rules. */
export function targetOf({ tool, prompt, resource }: McpVariables): string | undefined {
  return (tool ?? prompt ?? resource)?.target;
}
