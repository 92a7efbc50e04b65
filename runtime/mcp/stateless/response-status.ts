import type { Message } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode } from "../protocol/rpc-response.ts";

/** The status that goes with a response that is not part of a stream (MCP 2026-07-28, transports). */
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
