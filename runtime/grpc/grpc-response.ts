import { grpcStatus, statusOfHttp } from "../http/grpc-status.ts";
import type { CallFields, CallHandler } from "../process/shared-connection.ts";
import { FrameReader } from "./frames.ts";
import { GrpcError, REFUSED_STREAM, statusOfReset } from "./status.ts";

/** Receives the messages of a response. */
export interface GrpcResponseHandler {
  onMessage(message: Uint8Array): void;
  /** The end of the response. Called once; `undefined` if the status is OK. */
  onEnd(error: GrpcError | undefined): void;
}

/** Reads a response of a gRPC server (grpc.io, PROTOCOL-HTTP2): a head, messages, and a status in its trailers. */
export class GrpcResponse implements CallHandler {
  readonly #handler: GrpcResponseHandler;
  readonly #frames = new FrameReader();
  #hasHead = false;
  #isOver = false;
  #abort: () => void = () => {};

  constructor(handler: GrpcResponseHandler) {
    this.#handler = handler;
  }

  /** Sets how the call is aborted if its response cannot be read. */
  onMisread(abort: () => void): void {
    this.#abort = abort;
  }

  /** Fails the response from this side; later data is ignored. */
  fail(error: GrpcError): void {
    this.#finish(error);
  }

  onHead(fields: CallFields, isLast: boolean): void {
    this.#hasHead = true;
    const isGrpc = String(fields["content-type"] ?? "").startsWith("application/grpc");
    // A response without messages has its status in its only head.
    if (fields["grpc-status"] !== undefined && isLast) this.#finish(statusOf(fields));
    else if (fields[":status"] !== 200 || !isGrpc) this.#misread(notGrpc(fields));
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      for (const message of this.#frames.push(chunk)) {
        if (!this.#isOver) this.#handler.onMessage(message);
      }
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      this.#misread(error);
    }
  }

  onTrailers(fields: CallFields): void {
    if (fields["grpc-status"] === undefined) return;
    const isCut = this.#frames.isInside;
    this.#finish(
      isCut ? new GrpcError(grpcStatus.internal, "incomplete message") : statusOf(fields),
    );
  }

  onClose(reset: number, error: Error | undefined): void {
    // Usually the response has already ended; creating errors takes time.
    if (this.#isOver) return;
    if (reset !== 0) {
      const isUnseen = reset === REFUSED_STREAM && !this.#hasHead;
      const message = `the server reset the call (HTTP/2 error ${reset})`;
      this.#finish(new GrpcError(statusOfReset(reset), message, isUnseen));
    } else if (error !== undefined) {
      this.#finish(new GrpcError(grpcStatus.unavailable, error.message));
    } else {
      const code = this.#hasHead ? grpcStatus.internal : grpcStatus.unavailable;
      this.#finish(new GrpcError(code, "the response ended without a status"));
    }
  }

  #misread(error: GrpcError): void {
    this.#finish(error);
    this.#abort();
  }

  #finish(error: GrpcError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onEnd(error);
  }
}

function notGrpc(fields: CallFields): GrpcError {
  const status = Number(fields[":status"]);
  const type = fields["content-type"] ?? "no content type";
  return new GrpcError(statusOfHttp(status), `HTTP status ${status} with ${type}, not gRPC`);
}

function statusOf(fields: CallFields): GrpcError | undefined {
  const text = String(fields["grpc-status"]);
  // A status that is not a number counts as unknown.
  const code = /^\d+$/.test(text) ? Number(text) : grpcStatus.unknown;
  if (code === grpcStatus.ok) return undefined;
  const message = decoded(String(fields["grpc-message"] ?? ""));
  return new GrpcError(code, message);
}

/** Decodes percent-encoded UTF-8; returns malformed strings unchanged. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
