import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "./expressions.ts";

/** An authorization rule. */
export interface Rule {
  readonly action: "allow" | "deny" | "require";
  /** The expression exactly as written. */
  readonly text: string;
  /** The complete expression. */
  readonly expression: CompiledExpression;
  /**
   * Parts that each decide on their own. A rule over several kinds of MCP items has one for each kind, because the name
   * of a tool is no condition on a prompt.
   */
  readonly cases: readonly RuleCase[];
  readonly origin: Origin;
}

/** A part of a rule: an expression, and the items that it applies to. */
export interface RuleCase {
  /** Fields that those items have, as paths: `mcp.tool`. */
  readonly present: readonly string[];
  /** Fields that they lack. Without both lists, it applies to every item. */
  readonly absent: readonly string[];
  readonly expression: CompiledExpression;
}
