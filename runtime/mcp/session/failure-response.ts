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

/** A failure without its details for the log. */
export type ShownFailure = Omit<TargetFailure, "kind" | "detail"> & {
  readonly kind: TargetFailure["kind"] | UpstreamFailure["kind"];
};

/** Returns the response for a failure: an HTTP status and a JSON-RPC error without internals. */
export function failureResponse({ kind, target, status }: ShownFailure): FailureResponse {
  const code = rpcCode.internal;
  const server = target === undefined ? "MCP server" : `MCP server ${JSON.stringify(target)}`;
  switch (kind) {
    case "connect":
      return {
        status: 503,
        reason: "UpstreamFailure",
        code,
        message: `${server} is not reachable`,
      };
    case "timeout":
      return { status: 504, reason: "Timeout", code, message: `${server} did not answer in time` };
    case "closed":
      return { status: 502, reason: "UpstreamFailure", code, message: `${server} has gone away` };
    case "status":
    case "protocol": {
      const what =
        status === undefined
          ? "returned an invalid response"
          : `answered with HTTP status ${status}`;
      return {
        status: status !== undefined && isForClient(status) ? status : 502,
        reason: "UpstreamFailure",
        code,
        message: `${server} ${what}`,
      };
    }
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

/**
 * Whether a server's status tells the client something about its own request: its credentials, its rate, its size, or the
 * state of the server. Others are about the gateway's request.
 */
function isForClient(status: number): boolean {
  return (status >= 500 && status <= 599) || CLIENT_STATUSES.has(status);
}

const CLIENT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 413, 429]);

/** Returns the JSON-RPC response for a failure; with the server's own error if the client may see that. */
export function failureText(id: string, failure: ShownFailure): string {
  if (failure.error !== undefined) return `{"jsonrpc":"2.0","id":${id},"error":${failure.error}}`;
  const { code, message } = failureResponse(failure);
  return rpcError(id, code, message);
}

/** Answers the request with this id (JSON text) if nothing has been sent yet. */
export function respondFailure(
  exchange: Exchange,
  id: string,
  failure: ShownFailure & { readonly detail: string },
): void {
  const { status, reason } = failureResponse(failure);
  recordFailure(exchange, failure.detail);
  exchange.record.reason = reason;
  respondRpc(exchange, status, failureText(id, failure), failure.headers);
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
