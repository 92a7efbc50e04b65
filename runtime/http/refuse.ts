import { type Exchange, logFields, type RefusalReason } from "./exchange.ts";
import { grpcStatus, statusOfHttp } from "./grpc-status.ts";

/**
 * Refuses a request in the format of the route, or of gRPC. `message` goes to the client and must not contain internals.
 * `headers` is a flat list.
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
 * Records why a request is refused. For a rule of a protocol, only `message` says which one, so the log gets it, unless it
 * already has more.
 */
export function noteRefusal({ record }: Exchange, reason: RefusalReason, message: string): void {
  record.reason = reason;
  if (reason !== "MCP" && reason !== "BadRequest") return;
  const fields = logFields(record);
  if (!fields.has("error")) fields.set("error", message);
}

/** Refuses a request that matches no listener or route. */
export function notFound(exchange: Exchange): void {
  refuse(exchange, 404, "NotFound", "not found");
}

/** Refuses a request whose route has no backend with a share of its requests (Gateway API: 500). */
export function noBackend(exchange: Exchange): void {
  refuse(exchange, 500, "NoHealthyBackend", "no backend");
}

/**
 * Refuses a request for a host of another listener than its TLS connection (RFC 9110 7.4): the connection was not checked by
 * that listener's rules.
 */
export function misdirected(exchange: Exchange): void {
  refuse(exchange, 421, "Misdirected", "misdirected request");
}

/** Whether a request is a gRPC call (PROTOCOL-HTTP2: `application/grpc`, with an optional format or parameters). */
export function isGrpcCall(exchange: Exchange): boolean {
  if (!exchange.acceptsTrailers) return false;
  return /^application\/grpc(?:[+;]|$)/i.test(exchange.header("content-type") ?? "");
}

/**
 * Returns the headers of a refused call, for the status 200: gRPC has its statuses in trailers, here of a response without
 * body. `message`: printable ASCII, percent-encoded.
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

/**
 * Returns gRPC's code for a refusal. Limits and deadlines have codes of their own, which clients cannot derive from the HTTP
 * status.
 */
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
