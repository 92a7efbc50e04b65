import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";

/** One case of a policy; the first case whose condition is true applies. */
export interface CaseConfig<Value> {
  /** `undefined` if it always applies, which is allowed for the last case only. */
  readonly condition: ExpressionConfig | undefined;
  readonly value: Value;
  readonly origin: Origin;
}
