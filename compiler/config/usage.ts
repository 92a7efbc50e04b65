import type { Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "../model/expressions.ts";

/** Stored usage of models, as configured. */
export interface UsageConfig {
  /** Attributes of calls that usage can be grouped by. */
  readonly by: readonly NamedExpression[];
  /** Days for which it is stored. */
  readonly days: number;
  /** Whether callers may ask for their own. */
  readonly isForCallers: boolean;
  readonly origin: Origin;
}
