import { type ClientHttp2Stream, constants } from "node:http2";
import type { CallHandler, CallStream } from "../../process/shared-connection.ts";
import { SECOND } from "../../process/units.ts";
import type { ResetAllowance } from "./reset-allowance.ts";

/** How long a call that must not be reset now may end by itself. */
const PATIENCE = 2 * SECOND;

/** One call: an HTTP/2 stream. */
export class GrpcCall implements CallStream {
  readonly #stream: ClientHttp2Stream;
  readonly #resets: ResetAllowance;
  #drainListener: (() => void) | undefined;
  #laterReset: NodeJS.Timeout | undefined;

  /** `resets`: the allowance of its connection; `onOver` is called when the stream is closed. */
  constructor(
    stream: ClientHttp2Stream,
    handler: CallHandler,
    resets: ResetAllowance,
    onOver: () => void,
  ) {
    this.#stream = stream;
    this.#resets = resets;
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
      clearTimeout(this.#laterReset);
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
    if (this.#stream.closed || this.#laterReset !== undefined) return;
    if (this.#resets.take()) this.#stream.close(constants.NGHTTP2_CANCEL);
    else this.#cancelLater();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /**
   * Cancels later, when most calls have ended by themselves. Discards incoming data meanwhile, as it would use the window
   * of other calls.
   */
  #cancelLater(): void {
    this.end();
    this.resume();
    this.#laterReset = setTimeout(() => {
      this.#laterReset = undefined;
      this.cancel();
    }, PATIENCE);
    this.#laterReset.unref();
  }
}
