import { type Exchange, logFields } from "./exchange.ts";
import { grpcStatus, statusOfHttp } from "./grpc-status.ts";

/** Whether a request is a call of gRPC (its PROTOCOL-HTTP2: `application/grpc`, with a format or parameters behind it). */
export function isGrpc(exchange: Exchange): boolean {
  return /^application\/grpc(?:[+;]|$)/i.test(exchange.header("content-type") ?? "");
}

/** Refuses a call: gRPC has its statuses in trailers, here of a response that has no body. `status` is HTTP's. */
export function refuseCall(
  exchange: Exchange,
  status: number,
  message: string,
  headers: readonly string[],
): void {
  const code = String(refusedStatus(status));
  logFields(exchange.record).set("grpc.status", code);
  const own = ["content-type", "application/grpc", "grpc-status", code];
  exchange.respond(200, [...headers, ...own, "grpc-message", encodeURIComponent(message)]);
}

/** What clients take statuses of HTTP for; of a gateway that knows better, limits and deadlines have codes of their own. */
function refusedStatus(status: number): number {
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
