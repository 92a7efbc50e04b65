/** Takes one response, whole or piece by piece; as the methods of the same names of `Exchange`. */
export interface ResponseSink {
  respond(status: number, headers: readonly string[], body: string | Uint8Array): void;
  writeHead(status: number, headers: readonly string[], length: number | undefined): void;
  write(chunk: string | Uint8Array): boolean;
  end(trailers?: readonly string[]): void;
  /** Called each time more can be written after `write` returned false. One listener; the last one set counts. */
  onDrain(listener: () => void): void;
}
