import type { Http1Lines } from "../../http1/fields.ts";
import { type AfterHead, Http1Message } from "../../http1/message-reader.ts";
import { type Http1Head, readHttp1Head } from "./http1-head.ts";

/** Receives one response as it is read. */
export interface Http1Reader {
  /** A response that only announces another one (1xx). */
  onInformation(): void;
  onResponse(head: Http1Head): void;
  /** A piece of the body. False: pause. */
  onData(chunk: Buffer): boolean;
}

/** A response of HTTP/1.1, as it is read. */
export class Http1Response extends Http1Message {
  readonly #reader: Http1Reader;
  readonly #hasNoBody: boolean;
  #head: Http1Head | undefined;

  /** `hasNoBody`: the request was one for the head alone. */
  constructor(reader: Http1Reader, hasNoBody: boolean) {
    super();
    this.#reader = reader;
    this.#hasNoBody = hasNoBody;
  }

  /** Its head, when it is there. */
  get head(): Http1Head | undefined {
    return this.#head;
  }

  protected override onHead(lines: Http1Lines): AfterHead {
    const head = readHttp1Head(lines);
    if (typeof head === "string") return this.break(head);
    const { status } = head;
    // Nobody asked for another protocol.
    if (status === 101) return this.break("another protocol, which nobody asked for");
    if (status < 200) {
      if (!head.keepsAlive) return this.break("an end of the connection before the response");
      this.#reader.onInformation();
      return "head";
    }
    this.#head = head;
    const after = this.#bodyOf(head);
    this.#reader.onResponse(head);
    return after;
  }

  protected override mayBecomeHead(begun: Buffer): boolean {
    const length = Math.min(begun.length, version.length);
    return begun.compare(version, 0, length, 0, length) === 0 && !begun.includes("\n\n");
  }

  protected override onBody(chunk: Buffer): boolean {
    return this.#reader.onData(chunk);
  }

  /** RFC 9112 6.3. */
  #bodyOf({ status, fields: { isChunked, length } }: Http1Head): AfterHead {
    if (this.#hasNoBody || status === 204 || status === 304) return 0;
    if (isChunked) return "chunked";
    return length ?? "close";
  }
}

const version = Buffer.from("HTTP/1.");
