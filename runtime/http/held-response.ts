import { asBuffer } from "../process/bytes.ts";
import type { CountedBuffer } from "./body/counted-buffer.ts";
import { type Exchange, logFields } from "./exchange.ts";
import { ReceivedResponse } from "./received-response.ts";
import type { ResponseSink } from "./response-sink.ts";

/** How a response is held. */
export interface Holding {
  /** Maximum number of bytes of its body. */
  readonly limit: number;
  /** Whether a larger one is streamed from then on; otherwise it is replaced by a 502. */
  readonly streamsLarger?: boolean;
}

/** Holds a response until its body is complete. */
export class HeldResponse implements ResponseSink {
  protected readonly exchange: Exchange;
  protected readonly next: ResponseSink;
  protected readonly limit: number;
  readonly #streamsLarger: boolean;
  #head: ReceivedResponse | undefined;
  #length: number | undefined;
  #held: CountedBuffer;
  #isStreamed = false;

  constructor(exchange: Exchange, next: ResponseSink, { limit, streamsLarger }: Holding) {
    this.exchange = exchange;
    this.next = next;
    this.limit = limit;
    this.#streamsLarger = streamsLarger === true;
    this.#held = exchange.newBuffer();
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.writeHead(status, headers, Buffer.byteLength(body));
    this.write(body);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#head = new ReceivedResponse(status, headers);
    this.#length = length;
    if (!this.#isBare && length !== undefined && length > this.limit) this.#overflow();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#isStreamed) return this.next.write(chunk);
    if (this.#head === undefined) return true;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : asBuffer(chunk);
    if (this.#isBare) return true;
    if (this.#held.length + bytes.length > this.limit) {
      this.#overflow();
      return this.#isStreamed ? this.next.write(bytes) : true;
    }
    if (!this.#held.push(bytes)) this.refuse("not enough buffer space for the response");
    return true;
  }

  end(trailers?: readonly string[]): void {
    if (this.#isStreamed) this.next.end(trailers);
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    this.finish(head, this.#held.bytes(), trailers);
  }

  onDrain(listener: () => void): void {
    this.next.onDrain(listener);
  }

  withdraw(): void {
    this.#head = undefined;
    this.#isStreamed = false;
    this.#held.release();
    this.#held = this.exchange.newBuffer();
    this.next.withdraw();
  }

  leave(): void {
    this.next.leave();
  }

  /** Sends the complete response. */
  protected finish(
    { status, headers }: ReceivedResponse,
    body: Buffer,
    trailers: readonly string[] | undefined,
  ): void {
    const known = body.length === 0 ? this.#length : body.length;
    // A length excludes trailers (RFC 9112 6.1).
    this.next.writeHead(status, headers, trailers === undefined ? known : undefined);
    if (body.length > 0) this.next.write(body);
    this.next.end(trailers);
  }

  /** Answers 502 instead. */
  protected refuse(detail: string): void {
    this.#head = undefined;
    this.#held.release();
    const { record } = this.exchange;
    record.reason = "UpstreamFailure";
    logFields(record).set("error", detail);
    const headers = ["content-type", "text/plain; charset=utf-8"];
    this.next.respond(502, headers, "upstream returned an invalid response");
  }

  /** Whether the response has no body, whatever its length says. */
  get #isBare(): boolean {
    return this.exchange.original.method === "HEAD";
  }

  #overflow(): void {
    const head = this.#head;
    if (head === undefined) return;
    if (!this.#streamsLarger) {
      this.refuse("response too large to buffer");
      return;
    }
    this.#head = undefined;
    this.#isStreamed = true;
    this.next.writeHead(head.status, head.headers, this.#length);
    if (this.#held.length > 0) this.next.write(this.#held.bytes());
  }
}
