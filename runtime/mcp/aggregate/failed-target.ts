import type { Exchange } from "../../http/exchange.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { McpTarget } from "../transports/target.ts";

/** The part of a backend that says whether clients know its targets. */
type NamingBackend = Pick<McpBackend, "prefix">;

/**
 * Logs and counts the failure of a target. Returns it as clients may see it: with the name of the target if names have prefixes,
 * and without the error that the target sent.
 */
export function failedTarget(
  { exchange, backend }: { readonly exchange: Exchange; readonly backend: NamingBackend },
  { name }: McpTarget,
  { error: _, ...failure }: TargetFailure,
): TargetFailure {
  const named =
    !backend.prefix || failure.target !== undefined
      ? failure
      : { ...failure, target: name, detail: `${name}: ${failure.detail}` };
  mcpMetrics(exchange).targetFailed(exchange, name, named);
  return named;
}
