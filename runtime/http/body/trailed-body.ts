import type { BodySink, BodySource } from "./body.ts";

/** A complete body with trailers. */
class TrailedBody implements BodySource {
  readonly length = undefined;
  readonly trailers: readonly string[];
  readonly #bytes: Buffer;
  #sink: BodySink | undefined;
  #isPaused = false;
  #isGiven = false;

  constructor(bytes: Uint8Array, trailers: readonly string[]) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.trailers = trailers;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#pass();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pass();
  }

  discard(): void {
    this.#sink = undefined;
  }

  #pass(): void {
    if (!this.#isGiven && this.#sink !== undefined && !this.#isPaused) {
      this.#isGiven = true;
      if (this.#bytes.length > 0) this.#sink.onData(this.#bytes);
    }
    if (this.#isPaused) return;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }
}

/** Adds trailers to bytes; returns the bytes themselves if there are no trailers. */
export function withTrailers(
  bytes: Uint8Array,
  trailers: readonly string[] | undefined,
): Uint8Array | BodySource {
  return trailers === undefined || trailers.length === 0 ? bytes : new TrailedBody(bytes, trailers);
}
