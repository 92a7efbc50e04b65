import { type ClientHttp2Stream, constants } from "node:http2";
import type { CallHandler, CallStream } from "../../process/shared-connection.ts";

/** One call: a stream of HTTP/2. */
export class GrpcCall implements CallStream {
  readonly #stream: ClientHttp2Stream;
  #drainListener: (() => void) | undefined;

  /** `onOver` is called when the stream is gone. */
  constructor(stream: ClientHttp2Stream, handler: CallHandler, onOver: () => void) {
    this.#stream = stream;
    let broken: Error | undefined;
    stream.on("response", (fields, flags) => {
      handler.onHead(fields, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    stream.on("data", (chunk: Buffer) => handler.onData(chunk));
    stream.on("trailers", (fields) => handler.onTrailers(fields));
    stream.on("error", (error) => {
      broken = error;
    });
    stream.on("close", () => {
      onOver();
      handler.onClose(stream.rstCode ?? 0, broken);
    });
  }

  write(bytes: Uint8Array): boolean {
    return this.#stream.writable ? this.#stream.write(bytes) : true;
  }

  onDrain(listener: () => void): void {
    if (this.#drainListener === undefined) this.#stream.on("drain", () => this.#drainListener?.());
    this.#drainListener = listener;
  }

  end(bytes?: Uint8Array): void {
    if (this.#stream.writable) this.#stream.end(bytes);
  }

  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }
}
