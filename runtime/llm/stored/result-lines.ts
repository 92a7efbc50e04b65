import { PassThrough, type Transform } from "node:stream";
import type { Relay } from "../../backends/host.ts";
import { isCoded, openDecoder } from "../../http/body/content-coding.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { headerValue, withoutHeaders } from "../../http/headers/header-list.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";

/** Reads the lines of a response. */
export interface ResultReader {
  /** Maximum length of a line, in bytes. */
  readonly maxLine: number;
  /** Returns the line for the client. */
  line(text: string): Promise<string> | string;
  /** Called before the end of the response, and when it is aborted. */
  close(): Promise<void>;
}

/** Forwards a response line by line; a response with another status than 200 is forwarded unread. */
export class ResultLines implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #relay: Relay;
  readonly #reader: ResultReader;
  #request: UpstreamRequest | undefined;
  /** Content of the response; `undefined` if it is forwarded unread. */
  #content: Transform | undefined;

  /** `relay`: forwards the response. */
  constructor(exchange: Exchange, relay: Relay, reader: ResultReader) {
    this.#exchange = exchange;
    this.#relay = relay;
    this.#reader = reader;
  }

  start(request: UpstreamRequest): void {
    this.#request = request;
    this.#exchange.onAbort(() => this.#content?.destroy());
    this.#relay.start(request);
  }

  onHead(status: number, headers: readonly string[]): void {
    if (status !== 200) {
      this.#relay.onHead(status, headers);
      return;
    }
    const coding = headerValue(headers, "content-encoding");
    const content = isCoded(coding) ? openDecoder(coding) : new PassThrough();
    if (content === undefined) {
      this.onError({ kind: "protocol", detail: "the content coding is not known" });
      this.#request?.abort();
      return;
    }
    this.#content = content;
    content.on("drain", () => this.#request?.resume());
    this.#relay.onHead(status, withoutHeaders(headers, OF_CONTENT));
    this.#read(content).catch((error: Error) => this.#fail(error));
  }

  onData(chunk: Buffer): boolean {
    return this.#content === undefined ? this.#relay.onData(chunk) : this.#content.write(chunk);
  }

  onEnd(trailers?: readonly string[]): void {
    if (this.#content === undefined) this.#relay.onEnd(trailers);
    else this.#content.end();
  }

  onError(failure: UpstreamFailure): void {
    this.#content?.destroy();
    this.#relay.onError(failure);
  }

  async #read(content: AsyncIterable<Buffer>): Promise<void> {
    // Pieces of the line that has not ended.
    let pieces: Buffer[] = [];
    let length = 0;
    try {
      for await (const piece of content) {
        let start = 0;
        for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", start)) {
          await this.#write(Buffer.concat([...pieces, piece.subarray(start, end)]), "\n");
          start = end + 1;
          pieces = [];
          length = 0;
        }
        pieces.push(piece.subarray(start));
        length += piece.length - start;
        if (length > this.#reader.maxLine) throw new Error("a line of results is too long");
      }
      if (length > 0) await this.#write(Buffer.concat(pieces), "");
    } finally {
      await this.#reader.close();
    }
    this.#relay.onEnd();
  }

  async #write(bytes: Buffer, end: string): Promise<void> {
    const exchange = this.#exchange;
    const line = bytes.toString("utf8");
    const text = line.trim() === "" ? line : await this.#reader.line(line);
    if (exchange.isOver) throw new Error("the client has disconnected");
    // A file may have lines that are not text.
    const written = text === line ? bytes : Buffer.from(text);
    if (!exchange.write(Buffer.concat([written, Buffer.from(end)]))) {
      await new Promise<void>((resolve) => {
        exchange.onDrain(resolve);
        exchange.onAbort(resolve);
      });
    }
  }

  /** The client must see that the response is not complete. */
  #fail(error: Error): void {
    this.#request?.abort();
    const exchange = this.#exchange;
    if (exchange.isOver) return;
    logFields(exchange.record).set("error", error.message);
    exchange.record.reason = "UpstreamFailure";
    exchange.abort();
  }
}

/** Headers of a content that is decoded, and may change. */
const OF_CONTENT: ReadonlySet<string> = new Set([
  ...["content-length", "content-encoding", "content-md5", "etag", "digest", "accept-ranges"],
]);
