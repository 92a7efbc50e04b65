import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "./expressions.ts";

/** An authorization rule. */
export interface Rule {
  readonly action: "allow" | "deny" | "require";
  /** Exactly as it is written. */
  readonly text: string;
  /** The whole of it. */
  readonly expression: CompiledExpression;
  /**
   * What it says, in parts that each decide by themselves. A rule over several kinds of MCP items has one for each kind:
   * the name of a tool is no condition on a prompt.
   */
  readonly cases: readonly RuleCase[];
  readonly origin: Origin;
}

/** A part of a rule: an expression, and the items that it is about. */
export interface RuleCase {
  /** Fields that those items have, as a path: `mcp.tool`. */
  readonly present: readonly string[];
  /** Fields that they lack. With neither, it is about every item. */
  readonly absent: readonly string[];
  readonly expression: CompiledExpression;
}
