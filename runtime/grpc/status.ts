/** The status codes of gRPC that are named here (grpc.io, status codes); there are 17. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A call that failed: its status and what it says; for logs, never for clients. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: number;
  /** The server never saw the call: it may be made again. */
  readonly isUnseen: boolean;

  constructor(code: number, message: string, isUnseen = false) {
    super(message);
    this.code = code;
    this.isUnseen = isUnseen;
  }
}

/** The status of a response that is not gRPC's (grpc.io, http-grpc-status-mapping). */
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

/** The status of a call that ended with an error code of HTTP/2 (RFC 9113 7; grpc.io, PROTOCOL-HTTP2, errors). */
export function statusOfReset(reset: number): number {
  switch (reset) {
    case REFUSED_STREAM:
      return grpcStatus.unavailable;
    case CANCEL:
      return grpcStatus.cancelled;
    case ENHANCE_YOUR_CALM:
      return grpcStatus.resourceExhausted;
    case INADEQUATE_SECURITY:
      return grpcStatus.permissionDenied;
    default:
      return grpcStatus.internal;
  }
}

/** The server has not looked at the call (RFC 9113 8.7). */
export const REFUSED_STREAM = 7;
const CANCEL = 8;
const ENHANCE_YOUR_CALM = 11;
const INADEQUATE_SECURITY = 12;
