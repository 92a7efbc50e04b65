import type { Exchange } from "../../http/exchange.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { hidesNothing, type McpAuthorization } from "../rules/authorization.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import { failureResponse } from "../session/failure-response.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { McpTarget } from "../transports/target.ts";

/** The part of a backend that says whether clients know its targets. */
type NamingBackend = Pick<McpBackend, "prefix">;

/** The request that a target has failed. */
interface FailedRequest {
  readonly exchange: Exchange;
  readonly backend: NamingBackend;
  readonly access: McpAuthorization;
}

/**
 * Logs and counts the failure of a target. Returns it as clients may see it: with the name of the target if names have prefixes,
 * and with the error that the target sent if nothing is hidden from them, because the error of a list may contain a list.
 */
export function failedTarget(
  { exchange, backend, access }: FailedRequest,
  { name }: McpTarget,
  { error, ...failure }: TargetFailure,
): TargetFailure {
  const named =
    !backend.prefix || failure.target !== undefined
      ? failure
      : { ...failure, target: name, detail: `${name}: ${failure.detail}` };
  mcpMetrics(exchange).targetFailed(exchange, name, named);
  if (error === undefined || !hidesNothing(access)) return named;
  return { ...named, error: backend.prefix ? errorWithName(named, error) : error };
}

/** Returns an error with the name of the target, and with the target's own error as its data. */
function errorWithName(failure: TargetFailure, error: string): string {
  const { code, message } = failureResponse(failure);
  return `{"code":${code},"message":${JSON.stringify(message)},"data":{"error":${error}}}`;
}
