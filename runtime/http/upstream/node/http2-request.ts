import { type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from "node:http2";
import { type BodySource, isBodySource } from "../../body/body.ts";
import { isFieldValue } from "../../http1/fields.ts";
import { isSafe } from "../../request-line.ts";
import { CountedRequest, type RequestCounts } from "../counted-request.ts";
import type { UpstreamCall, UpstreamHandler } from "../upstream.ts";
import { connectFailure, senderLeft } from "../upstream-failures.ts";
import type { Http2Connection, Http2Pool } from "./http2-pool.ts";

/** Data that requests to a destination share. */
export interface Http2RequestExtras {
  readonly scheme: string;
  readonly authority: string;
  /** Milliseconds to the head of the response. */
  readonly requestTimeout: number | undefined;
}

/** One request over HTTP/2: a stream of a connection of the pool. */
export class Http2ClientRequest extends CountedRequest {
  readonly #pool: Http2Pool;
  #call: UpstreamCall;
  readonly #extras: Http2RequestExtras;
  #waitNoMore: (() => void) | undefined;
  #stream: ClientHttp2Stream | undefined;
  /** Whether it may be sent again. */
  #canRepeat = true;
  #hasHead = false;
  #trailers: readonly string[] | undefined;

  /** `counts`: `undefined` if no gateway runs yet. */
  constructor(
    pool: Http2Pool,
    call: UpstreamCall,
    handler: UpstreamHandler,
    extras: Http2RequestExtras,
    counts: RequestCounts | undefined,
  ) {
    super(handler, extras.requestTimeout, counts);
    this.#pool = pool;
    this.#call = call;
    this.#extras = extras;
  }

  start(): void {
    this.#waitNoMore = this.#pool.take({
      use: (connection) => this.#begin(connection),
      fail: (error) => {
        const unsent = this.#stream === undefined ? { unsent: { body: this.#call.body } } : {};
        this.fail({ ...connectFailure(error), ...unsent });
      },
    });
  }

  override resume(): void {
    this.#stream?.resume();
  }

  protected override breakOff(): void {
    this.#waitNoMore?.();
    if (this.#stream !== undefined) breakOff(this.#stream);
  }

  #begin(connection: Http2Connection): void {
    const { body } = this.#call;
    const stream = this.#open(connection, body);
    if (stream === undefined) return;
    this.#stream = stream;
    let broken: Error | undefined;
    stream.on("response", (_fields, _flags, head: string[]) => this.#onResponse(head));
    stream.on("headers", () => this.onInterim());
    stream.on("data", (chunk: Buffer) => {
      if (!this.isOver && !this.handler.onData(chunk)) stream.pause();
    });
    stream.on("trailers", (_fields, _flags, trailers: string[]) => {
      this.#trailers = trailers;
    });
    stream.on("end", () => this.#onEnd(stream));
    stream.on("error", (error) => {
      broken = error;
    });
    stream.on("close", () => this.#onClose(stream, broken));
    if (body === null) return;
    if (typeof body === "string" || body instanceof Uint8Array) stream.end(body);
    else this.#sendBody(stream, body);
  }

  #open(connection: Http2Connection, body: UpstreamCall["body"]): ClientHttp2Stream | undefined {
    try {
      return connection.request(this.#head(), {
        endStream: body === null,
        // Only bodies of unknown length have trailers (`RequestTrailers`).
        waitForTrailers: isBodySource(body) && body.length === undefined,
      });
    } catch (error) {
      const detail = error instanceof Error ? error.message : "";
      this.fail({ kind: "protocol", isOfRequest: true, detail });
      return undefined;
    }
  }

  /**
   * Formats the head. RFC 9113 8.3.1: pseudo headers correspond to HTTP/1.1's first line and Host. Throws if a value is
   * invalid: Node would send it, and a server that converts it to HTTP/1.1 would read two fields.
   */
  #head(): string[] {
    const { method, path, headers, body } = this.#call;
    const { scheme, authority } = this.#extras;
    const head = [":method", method, ":scheme", scheme, ":authority", authority, ":path", path];
    for (let i = 0; i < headers.length; i += 2) {
      const name = (headers[i] ?? "").toLowerCase();
      const value = headers[i + 1] ?? "";
      if (!isFieldValue(value)) throw new Error(`the value of ${name} can't be sent`);
      if (name === "host") head[5] = value;
      else head.push(name, value);
    }
    const length = typeof body === "string" ? Buffer.byteLength(body) : body?.length;
    if (length !== undefined) head.push("content-length", String(length));
    return head;
  }

  #sendBody(stream: ClientHttp2Stream, body: BodySource): void {
    this.#canRepeat = false;
    stream.on("drain", () => body.resume());
    stream.on("close", () => body.discard());
    stream.on("wantTrailers", () => stream.sendTrailers(fieldsOf(body.trailers ?? [])));
    body.flow({
      onData: (chunk) => {
        if (stream.writable && !stream.write(chunk)) body.pause();
      },
      onEnd: () => {
        if (stream.writable) stream.end();
      },
      onAbort: () => this.giveUp(senderLeft),
    });
  }

  #onResponse(head: readonly string[]): void {
    if (this.isOver) return;
    let status = 0;
    const headers: string[] = [];
    for (let i = 0; i < head.length; i += 2) {
      const name = head[i] ?? "";
      if (name === ":status") status = Number(head[i + 1]);
      else if (!name.startsWith(":")) headers.push(name, head[i + 1] ?? "");
    }
    this.#hasHead = true;
    this.#call = answeredCall;
    this.onHead(status, headers);
  }

  /** Handles the end of the stream, which Node also emits after a reset. */
  #onEnd(stream: ClientHttp2Stream): void {
    if (this.isOver || !this.#hasHead || isReset(stream)) return;
    this.complete(this.#trailers);
    // The response is complete, but the server may not have read the whole request (RFC 9113 8.1).
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  #onClose(stream: ClientHttp2Stream, error: Error | undefined): void {
    if (this.isOver) return;
    const reset = stream.rstCode ?? 0;
    const isUnseen = reset === constants.NGHTTP2_REFUSED_STREAM;
    // A server may close an idle connection while a request is on its way: the request is sent again once (RFC 9112 9.3.1).
    if (this.#canRepeat && !this.#hasHead && (isUnseen || isSafe(this.#call.method))) {
      this.#canRepeat = false;
      this.start();
      return;
    }
    const isOfPeer = reset !== 0 && reset !== constants.NGHTTP2_CANCEL && !isUnseen;
    const detail = error?.message ?? `stream closed with code ${reset}`;
    this.fail({ kind: isOfPeer ? "protocol" : "closed", detail });
  }
}

/** Replaces a call that is not sent again, because its response may take long. */
const answeredCall: UpstreamCall = { method: "", path: "", headers: [], body: null };

function fieldsOf(list: readonly string[]): OutgoingHttpHeaders {
  const fields: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    fields[name] = [...(fields[name] ?? []), list[i + 1] ?? ""];
  }
  return fields;
}

function isReset(stream: ClientHttp2Stream): boolean {
  return (stream.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR;
}

/** Resets a stream, so that its body cannot look complete: Node's `close` would end it first. */
function breakOff(stream: ClientHttp2Stream): void {
  if (stream.writableEnded) stream.close(constants.NGHTTP2_CANCEL);
  else stream.destroy(new Error("aborted"));
}
