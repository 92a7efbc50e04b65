import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";

/** One of several forms of a policy; the first whose condition is true acts. */
export interface CaseConfig<Value> {
  /** Undefined: always; only the last one may be so. */
  readonly condition: ExpressionConfig | undefined;
  readonly value: Value;
  readonly origin: Origin;
}
