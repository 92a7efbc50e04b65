/** Status codes of gRPC that are used by name (grpc.io, status codes); there are 17. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const NAMES: readonly string[] = [
  ...["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"],
  ...["ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"],
  ...["ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"],
  "UNAUTHENTICATED",
];

/** Returns gRPC's name of a code (`UNAVAILABLE`), or its number if it has none. */
export function grpcStatusName(code: number): string {
  return NAMES[code] ?? String(code);
}

/** HTTP statuses that correspond to gRPC's codes (google.rpc.Code), by code. */
const HTTP_STATUSES: readonly number[] = [
  ...[200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401],
];

/** Returns the HTTP status that corresponds to a gRPC code; invalid codes count as `unknown`. */
export function httpStatusOf(code: string): number {
  return HTTP_STATUSES[Number(code)] ?? 500;
}

/** Returns the gRPC code for a response that is not gRPC (grpc.io, http-grpc-status-mapping). */
export function statusOfHttp(status: number): number {
  switch (status) {
    case 400:
      return grpcStatus.internal;
    case 401:
      return grpcStatus.unauthenticated;
    case 403:
      return grpcStatus.permissionDenied;
    case 404:
      return grpcStatus.unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return grpcStatus.unavailable;
    default:
      return grpcStatus.unknown;
  }
}
