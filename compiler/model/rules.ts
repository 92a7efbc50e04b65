import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "./expressions.ts";

/** An authorization rule. */
export interface Rule {
  readonly action: "allow" | "deny" | "require";
  readonly expression: CompiledExpression;
  /**
   * The kinds of MCP items without which the rule cannot be true. A deny or require rule is not about other items:
   * `deny: mcp.tool.name == "x"` leaves prompts alone, although reading the tool of a prompt is an error.
   */
  readonly about: readonly ("tool" | "prompt" | "resource")[];
  readonly origin: Origin;
}
