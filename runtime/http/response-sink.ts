/** Takes one answer, whole or piece by piece; as the methods of the same names of `Exchange`. */
export interface AnswerSink {
  respond(status: number, headers: readonly string[], body: string | Uint8Array): void;
  respondHead(status: number, headers: readonly string[], length: number | undefined): void;
  write(chunk: string | Uint8Array): boolean;
  end(): void;
}
