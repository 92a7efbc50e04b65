import type { Exchange, RefusalReason } from "../../http/exchange.ts";
import { noteRefusal } from "../../http/refuse.ts";

/** Error codes of JSON-RPC 2.0 (section 5.1) and of MCP. */
export const rpcCode = {
  /** Sent with HTTP status 403. */
  insufficientScope: -32000,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Headers that contradict the body (MCP 2026-07-28). */
  headerMismatch: -32020,
  /** The client has not declared a capability that the request needs. */
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** The `error` member of a response. */
export interface RpcError {
  readonly code: number;
  /** Sent to the client: no internals. */
  readonly message: string;
  readonly data?: object;
}

/** The error for a method that does not exist, or that rules hide. */
export const unknownMethod: RpcError = {
  code: rpcCode.methodNotFound,
  message: "Method not found",
};

/** Returns the id of the response to a message, as JSON text; notifications have an empty id. */
export function responseId({ id }: { readonly id: string }): string {
  return id === "" ? "null" : id;
}

/** Builds an error response. `id` is JSON text (`7`, `"a"`, `null`). `message` is sent to the client: no internals. */
export function rpcError(id: string, code: number, message: string, data?: object): string {
  const error = JSON.stringify({ code, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** Builds a successful response; `id` and `result` are JSON text. */
export function rpcResult(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** Answers with one JSON-RPC message. `headers` is a flat list. */
export function respondRpc(
  exchange: Exchange,
  status: number,
  text: string,
  headers: readonly string[] = [],
): void {
  exchange.respond(status, [...headers, "content-type", "application/json"], text);
}

/** Answers the client's request with an error of the gateway. */
export function respondRpcError(
  exchange: Exchange,
  status: number,
  reason: RefusalReason,
  { id, code, message, data }: RpcError & { readonly id: string },
): void {
  noteRefusal(exchange, reason, message);
  respondRpc(exchange, status, rpcError(id, code, message, data));
}
