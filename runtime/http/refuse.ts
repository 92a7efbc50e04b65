import { type Exchange, logFields, type RefusalReason } from "./exchange.ts";
import { grpcStatus, statusOfHttp } from "./grpc-status.ts";

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

/** Whether a request is a call of gRPC (its PROTOCOL-HTTP2: `application/grpc`, with a format or parameters behind it). */
export function isGrpcCall(exchange: Exchange): boolean {
  if (!exchange.acceptsTrailers) return false;
  return /^application\/grpc(?:[+;]|$)/i.test(exchange.header("content-type") ?? "");
}

/**
 * The end of a call that goes no further: gRPC has its statuses in trailers, here of a response that has no body. A flat
 * header list for the status 200. `message`: printable ASCII, percent-encoded.
 */
export function callEnd(
  { record }: Exchange,
  code: number,
  message: string,
  headers: readonly string[],
): readonly string[] {
  const status = String(code);
  logFields(record).set("grpc.status", status);
  const own = ["content-type", "application/grpc", "grpc-status", status, "grpc-message", message];
  return [...headers, ...own];
}

/** What clients take statuses of HTTP for; of a gateway that knows better, limits and deadlines have codes of their own. */
export function refusedStatus(status: number): number {
  switch (status) {
    case 413:
    case 429:
      return grpcStatus.resourceExhausted;
    case 408:
    case 504:
      return grpcStatus.deadlineExceeded;
    case 500:
      return grpcStatus.internal;
    default:
      return statusOfHttp(status);
  }
}
