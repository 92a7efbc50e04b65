/** Takes one response, whole or piece by piece; as the methods of the same names of `Exchange`, but for `withdraw` and `leave`. */
export interface ResponseSink {
  respond(status: number, headers: readonly string[], body: string | Uint8Array): void;
  writeHead(status: number, headers: readonly string[], length: number | undefined): void;
  write(chunk: string | Uint8Array): boolean;
  end(trailers?: readonly string[]): void;
  /** Called each time more can be written after `write` returned false. One listener; the last one set counts. */
  onDrain(listener: () => void): void;
  /** Forgets a response whose head was not sent on: it breaks off, and another one comes in its place. */
  withdraw(): void;
  /** The connection has left HTTP: no response comes any more. */
  leave(): void;
}
