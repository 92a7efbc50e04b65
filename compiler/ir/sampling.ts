import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";

/** Sampling rate. */
export interface SamplingNode {
  readonly value: CompiledExpression;
  readonly origin: Origin;
}
