import { grpcStatus } from "../http/grpc-status.ts";

/** A failed call with its status and message; for logs, never for clients. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: number;
  /** Whether the server has not processed the call, so that it may be retried. */
  readonly isUnseen: boolean;

  constructor(code: number, message: string, isUnseen = false) {
    super(message);
    this.code = code;
    this.isUnseen = isUnseen;
  }
}

/** Returns the status of a call that ended with an HTTP/2 error code (RFC 9113 7; grpc.io, PROTOCOL-HTTP2, errors). */
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

/** The server has not processed the call (RFC 9113 8.7). */
export const REFUSED_STREAM = 7;
const CANCEL = 8;
const ENHANCE_YOUR_CALM = 11;
const INADEQUATE_SECURITY = 12;
