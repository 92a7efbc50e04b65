import type { Exchange } from "../../http/exchange.ts";
import { withoutHeader } from "../../http/headers/header-list.ts";
import { callEnd, isGrpcCall, refusedStatus } from "../../http/refuse.ts";

/** A response to the client from a server of Envoy's protocols, instead of the backend's; headers are a flat list. */
export interface ServerReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
}

/** Maximum number of characters of a body that become the message of a gRPC call. */
const MAX_MESSAGE = 1024;

/**
 * Converts the reply for its client: a gRPC call ends with a status, and the body is its message. `code`: the gRPC status;
 * `undefined` derives it from the HTTP status.
 */
export function replyFor(exchange: Exchange, reply: ServerReply, code?: number): ServerReply {
  if (!isGrpcCall(exchange)) return reply;
  const text = Buffer.from(reply.body).toString().slice(0, MAX_MESSAGE);
  const headers = withoutHeader(reply.headers, "content-type");
  const status = code ?? refusedStatus(reply.status);
  return { status: 200, headers: callEnd(exchange, status, messageText(text), headers), body: "" };
}

/** Percent-encodes the percent sign and everything but printable ASCII (grpc.io, PROTOCOL-HTTP2: Status-Message). */
function messageText(message: string): string {
  return message.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent);
}
