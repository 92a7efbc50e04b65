import type { RefusalFormat } from "../../http/refusal-format.ts";

/** Refusals as JSON-RPC errors without a request (JSON-RPC 2.0, 5). */
export const jsonRpcRefusal: RefusalFormat = {
  protocol: "mcp",
  contentType: "application/json",
  body: (status, message) =>
    JSON.stringify({ jsonrpc: "2.0", error: { code: codeOf(status), message }, id: null }),
};

/** JSON-RPC 2.0, 5.1: -32603 is an internal error; -32000 is the first implementation-defined code. */
function codeOf(status: number): number {
  return status >= 500 ? -32603 : -32000;
}
