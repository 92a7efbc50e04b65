import type { Origin } from "../diagnostics/diagnostic.ts";
import type { AddedField } from "./access-log.ts";

/** Usage of models that is stored. */
export interface UsageNode {
  /** Attributes of calls that usage can be grouped by. */
  readonly by: readonly AddedField[];
  /** Days for which it is stored. */
  readonly days: number;
  /** Whether callers may ask for their own. */
  readonly isForCallers: boolean;
  readonly origin: Origin;
}
