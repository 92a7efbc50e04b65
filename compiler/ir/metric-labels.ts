import type { Origin } from "../diagnostics/diagnostic.ts";
import type { AddedField } from "./access-log.ts";

/** Labels that requests have in metrics of their own. */
export interface MetricLabelsNode {
  readonly labels: readonly AddedField[];
  readonly origin: Origin;
}
