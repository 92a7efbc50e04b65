import type { Exchange } from "../../http/exchange.ts";
import { withoutHeader } from "../../http/headers/header-list.ts";
import { callEnd, isGrpcCall, refusedStatus } from "../../http/refuse.ts";

/** A response that a server of Envoy's protocols has for the client, in the place of the backend's; a flat header list. */
export interface ServerReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
}

/** Characters of a body that become the message of a call. */
const MAX_MESSAGE = 1024;

/**
 * The reply as its client reads it: a call of gRPC ends with a status, and the body is its message. `code`: the status that
 * the server says; undefined: the one that HTTP's stands for.
 */
export function replyFor(exchange: Exchange, reply: ServerReply, code?: number): ServerReply {
  if (!isGrpcCall(exchange)) return reply;
  const text = Buffer.from(reply.body).toString().slice(0, MAX_MESSAGE);
  const headers = withoutHeader(reply.headers, "content-type");
  const status = code ?? refusedStatus(reply.status);
  return { status: 200, headers: callEnd(exchange, status, messageText(text), headers), body: "" };
}

/** What is no printable ASCII is percent-encoded, and the percent sign (grpc.io, PROTOCOL-HTTP2: Status-Message). */
function messageText(message: string): string {
  return message.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent);
}
