/** Receives one response, whole or piece by piece. Methods are as in `Exchange`, except for `withdraw` and `leave`. */
export interface ResponseSink {
  respond(status: number, headers: readonly string[], body: string | Uint8Array): void;
  writeHead(status: number, headers: readonly string[], length: number | undefined): void;
  write(chunk: string | Uint8Array): boolean;
  end(trailers?: readonly string[]): void;
  /** Called each time more can be written after `write` returned false. Only the last listener counts. */
  onDrain(listener: () => void): void;
  /** Drops a response whose head was not forwarded: it was aborted, and another one follows. */
  withdraw(): void;
  /** The connection has left HTTP: no response follows. */
  leave(): void;
}
