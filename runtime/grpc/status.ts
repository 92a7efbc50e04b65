import { grpcStatus } from "../http/grpc-status.ts";

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
