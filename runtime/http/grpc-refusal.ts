import { type Exchange, logFields } from "./exchange.ts";
import { grpcStatus, statusOfHttp } from "./grpc-status.ts";

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
