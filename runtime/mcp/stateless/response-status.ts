import type { Message } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode } from "../protocol/rpc-response.ts";

/**
 * Whether a server with sessions may have answered a request of 2026-07-28 with this status. A server that knows the
 * revision does so only if the request is wrong.
 */
export function isDoubtful(status: number): boolean {
  return status === 400 || status === 404 || status === 405;
}

/** Returns the HTTP status for a response outside of a stream (MCP 2026-07-28, transports). */
export function responseStatusOf(response: Message): number {
  switch (errorCodeOf(response)) {
    case rpcCode.methodNotFound:
      return 404;
    case rpcCode.headerMismatch:
    case rpcCode.missingCapability:
    case rpcCode.unsupportedVersion:
      return 400;
    default:
      return 200;
  }
}
