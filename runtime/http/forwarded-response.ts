import type { ResponseSink } from "./response-sink.ts";

/** Forwards a response unchanged. Subclasses change the parts that they are about. */
export class ForwardedResponse implements ResponseSink {
  protected readonly next: ResponseSink;

  constructor(next: ResponseSink) {
    this.next = next;
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.next.respond(status, headers, body);
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.next.writeHead(status, headers, length);
  }

  write(chunk: string | Uint8Array): boolean {
    return this.next.write(chunk);
  }

  end(trailers?: readonly string[]): void {
    this.next.end(trailers);
  }

  onDrain(listener: () => void): void {
    this.next.onDrain(listener);
  }

  withdraw(): void {
    this.next.withdraw();
  }

  leave(): void {
    this.next.leave();
  }
}
