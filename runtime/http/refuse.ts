import { type Exchange, logFields, type RefusalReason } from "./exchange.ts";
import { callEnd, isGrpcCall, refusedStatus } from "./grpc-refusal.ts";

/**
 * Answers a request that the gateway itself refuses, in the format of the route, or of gRPC. `message` goes to the client: no
 * internals. `headers` is a flat list.
 */
export function refuse(
  exchange: Exchange,
  status: number,
  reason: RefusalReason,
  message: string,
  headers: readonly string[] = [],
): void {
  noteRefusal(exchange, reason, message);
  const { protocol, contentType, body } = exchange.refusalFormat;
  if (protocol === "http" && isGrpcCall(exchange)) {
    exchange.respond(200, callEnd(exchange, refusedStatus(status), message, headers));
    return;
  }
  exchange.respond(status, [...headers, "content-type", contentType], body(status, message));
}

/**
 * Notes why a request is refused. Where that is a rule of a protocol, only `message` says which one: the log has it, unless
 * it has more than that already.
 */
export function noteRefusal({ record }: Exchange, reason: RefusalReason, message: string): void {
  record.reason = reason;
  if (reason !== "MCP" && reason !== "BadRequest") return;
  const fields = logFields(record);
  if (!fields.has("error")) fields.set("error", message);
}

/** No listener or no route answers this request. */
export function notFound(exchange: Exchange): void {
  refuse(exchange, 404, "NotFound", "not found");
}

/** The route has no backend that takes a share of its requests (Gateway API: 500). */
export function noBackend(exchange: Exchange): void {
  refuse(exchange, 500, "NoHealthyBackend", "no backend");
}

/**
 * The request names a host of another listener than its TLS connection (RFC 9110 7.4): what that listener asks of its
 * connections was not asked of this one.
 */
export function misdirected(exchange: Exchange): void {
  refuse(exchange, 421, "Misdirected", "misdirected request");
}
