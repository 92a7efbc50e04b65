import { type Exchange, logFields, type RefusalReason } from "../../http/exchange.ts";
import type { UpstreamFailure } from "../../http/upstream/upstream.ts";
import { respondRpc, rpcCode, rpcError } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";

/** The response to a client's request that its target did not answer. */
export interface FailureResponse {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly code: number;
  readonly message: string;
}

/** Returns the response for a failure: an HTTP status and a JSON-RPC error without internals. */
export function failureResponse(
  kind: TargetFailure["kind"] | UpstreamFailure["kind"],
): FailureResponse {
  const code = rpcCode.internal;
  switch (kind) {
    case "connect":
      return {
        status: 503,
        reason: "UpstreamFailure",
        code,
        message: "MCP server is not reachable",
      };
    case "timeout":
      return { status: 504, reason: "Timeout", code, message: "MCP server did not answer in time" };
    case "closed":
      return { status: 502, reason: "UpstreamFailure", code, message: "MCP server has gone away" };
    case "protocol":
    case "status":
      return {
        status: 502,
        reason: "UpstreamFailure",
        code,
        message: "MCP server returned an invalid response",
      };
    case "draining":
      return { status: 503, reason: "Draining", code, message: "The gateway is shutting down" };
    case "cancelled":
      return { status: 200, reason: "ClientClosed", code: -32800, message: "Request cancelled" };
    case "session":
      return { status: 404, reason: "MCP", code: -32001, message: "Session not found" };
    case "duplicate":
      return {
        status: 400,
        reason: "MCP",
        code: rpcCode.invalidRequest,
        message: "Invalid Request: a request with this id is in flight",
      };
  }
}

/** Answers the request with this id (JSON text) if nothing has been sent yet. */
export function respondFailure(
  exchange: Exchange,
  id: string,
  failure: { readonly kind: TargetFailure["kind"]; readonly detail: string },
): void {
  const response = failureResponse(failure.kind);
  recordFailure(exchange, failure.detail);
  exchange.record.reason = response.reason;
  respondRpc(exchange, response.status, rpcError(id, response.code, response.message));
}

/** Adds the failure to the access log. */
export function recordFailure(exchange: Exchange, detail: string): void {
  logFields(exchange.record).set("error", detail);
}

/** The failure for a response that two clients could read differently. */
export const repeatedKey: TargetFailure = {
  kind: "protocol",
  detail: "a result has a duplicate key",
};
