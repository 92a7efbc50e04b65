import type { Exchange } from "../../http/exchange.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { McpMetrics } from "../rules/mcp-metrics.ts";
import type { McpTarget } from "../transports/target.ts";

/**
 * Logs and counts the failure of a target. Returns it as clients may see it: with the name of the target if there are several,
 * and without the error that the target sent.
 */
export function failedTarget(
  { exchange, targets }: { readonly exchange: Exchange; readonly targets: readonly unknown[] },
  { name }: McpTarget,
  { error: _, ...failure }: TargetFailure,
): TargetFailure {
  const named =
    targets.length === 1 || failure.target !== undefined
      ? failure
      : { ...failure, target: name, detail: `${name}: ${failure.detail}` };
  exchange.gateway.metrics.part(McpMetrics).targetFailed(exchange, name, named);
  return named;
}
