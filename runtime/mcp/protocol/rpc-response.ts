import type { Exchange, RefusalReason } from "../../http/exchange.ts";

/** JSON-RPC 2.0 section 5.1, and MCP's own codes. */
export const rpcCode = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** The text of an error response; `id` is JSON text (`7`, `"a"`, `null`). `message` goes to the client: no internals. */
export function rpcError(id: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${JSON.stringify(message)}}}`;
}

/** The text of a result; `id` and `result` are JSON text. */
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

/** Answers a request of the client's with an error of the gateway's own. */
export function respondRpcError(
  exchange: Exchange,
  status: number,
  reason: RefusalReason,
  error: { readonly id: string; readonly code: number; readonly message: string },
): void {
  exchange.record.reason = reason;
  respondRpc(exchange, status, rpcError(error.id, error.code, error.message));
}
