import { validateHeaderName, validateHeaderValue } from "node:http";
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { BodySink } from "../../body/body.ts";
import { frameMessage } from "../../http1/message-reader.ts";
import type { EngineRequest, EngineResponse } from "../engine.ts";

/** A request of HTTP/2: its pseudo headers are what HTTP/1.1 has in its first line and in Host. */
export class Http2Request implements EngineRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly httpVersion = "2";
  readonly socket: Socket;
  readonly acceptsTrailers: boolean;
  readonly #stream: ServerHttp2Stream;
  #sink: BodySink | undefined;
  trailers: readonly string[] | undefined;

  /** `hasBody`: more than its head is to come. */
  constructor(stream: ServerHttp2Stream, head: Http2Head, socket: Socket, hasBody: boolean) {
    this.method = head.method;
    this.url = head.path;
    this.rawHeaders = head.list;
    this.acceptsTrailers = head.acceptsTrailers;
    this.socket = socket;
    this.#stream = stream;
    if (!hasBody) return;
    stream.once("trailers", (_fields: unknown, _flags: number, list: unknown) => {
      const trailers = rawHeaders(list);
      if (!frameMessage(trailers)) {
        this.trailers = trailers;
        return;
      }
      // RFC 9113 8.1.1: nobody may take the body for a whole one.
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      this.#abort();
    });
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    const stream = this.#stream;
    // Node emits the end of an empty body at once, also when nobody listens yet.
    if (stream.readableEnded) {
      this.#end();
      return;
    }
    stream.on("end", () => this.#end());
    // "close" also comes after a complete body; the sink is gone by then.
    stream.on("close", () => this.#abort());
    stream.on("data", (chunk: Buffer) => this.#sink?.onData(chunk));
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  discard(): void {
    this.#sink = undefined;
    this.#stream.resume();
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }

  #abort(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onAbort();
  }
}

/** The response on a stream of HTTP/2. */
export class Http2Response implements EngineResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #isHead: boolean;
  /** The client takes trailers: node asks for them when all else is written. */
  readonly #acceptsTrailers: boolean;
  readonly #trailers: OutgoingHttpHeaders = Object.create(null);
  statusCode = 0;
  /** Of a response that has begun and of which nothing was sent. */
  #head: OutgoingHttpHeaders | undefined;
  /** The head ended the response: RFC 9110 has no body for it. */
  #isBodiless = false;
  #isEnded = false;
  /** Milliseconds that a client may take nothing of what is there for it. */
  readonly #takeTime: number;
  #isTimed = false;

  constructor(
    stream: ServerHttp2Stream,
    { method, acceptsTrailers }: Http2Request,
    takeTime: number,
  ) {
    this.#stream = stream;
    this.#takeTime = takeTime;
    this.#isHead = method === "HEAD";
    this.#acceptsTrailers = acceptsTrailers;
  }

  get headersSent(): boolean {
    return this.#head !== undefined || this.#stream.headersSent;
  }

  /** A stream that its client resets is ended by node too; only what was ended here before that is complete. */
  get writableFinished(): boolean {
    return this.#isEnded && !this.#stream.aborted;
  }

  /** The head waits for what follows it: where nothing does, it ends the stream itself. */
  writeHead(status: number, head: readonly string[]): void {
    const { headers, closesConnection } = writtenHead(status, head);
    this.#isBodiless = this.#isHead || status === 204 || status === 304;
    if (closesConnection) this.#stream.session?.close();
    this.#head = headers;
    this.statusCode = status;
    if (this.#isBodiless) this.#sendHead(true);
  }

  writeContinue(): void {
    if (!this.#isGone()) this.#stream.additionalHeaders({ ":status": 100 });
  }

  flushHead(): void {
    this.#sendHead(false);
  }

  write(chunk: Uint8Array): boolean {
    this.#sendHead(false);
    if (this.#isBodiless || this.#isGone()) return true;
    const isReady = this.#stream.write(chunk);
    if (!isReady) this.#timeWrites();
    return isReady;
  }

  setTrailers(trailers: readonly string[]): void {
    for (let i = 0; i < trailers.length; i += 2)
      addField(this.#trailers, trailers[i] ?? "", trailers[i + 1] ?? "");
    this.#sendHead(false);
  }

  end(chunk?: Uint8Array): void {
    const isEmpty = chunk === undefined || chunk.length === 0;
    this.#sendHead(isEmpty);
    if (this.#isEnded || this.#isGone()) return;
    this.#isEnded = true;
    if (isEmpty) this.#stream.end();
    else this.#stream.end(chunk);
    if (this.#stream.writableLength > 0) this.#timeWrites();
  }

  destroy(): void {
    // With an error it is a RST_STREAM at once; `close` would end the body before, and it would look complete.
    this.#stream.destroy(new Error("the response is broken off"));
  }

  on(event: "drain" | "close", listener: () => void): void {
    this.#stream.on(event, listener);
  }

  /** Until the stream has room again, or has ended. */
  #timeWrites(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    const stream = this.#stream;
    stream.setTimeout(this.#takeTime, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.once("drain", () => {
      this.#isTimed = false;
      if (!stream.destroyed) stream.setTimeout(0);
    });
  }

  #sendHead(endStream: boolean): void {
    const head = this.#head;
    this.#head = undefined;
    if (head === undefined || this.#isGone()) return;
    const waitForTrailers = this.#acceptsTrailers && !endStream;
    if (waitForTrailers)
      this.#stream.on("wantTrailers", () => this.#stream.sendTrailers(this.#trailers));
    this.#stream.respond(head, { endStream, waitForTrailers });
    this.#isEnded = endStream;
  }

  #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }
}

/** The list of fields that node hands over as it came; its types know the object only. */
export function rawHeaders(list: unknown): readonly string[] {
  return Array.isArray(list) ? list : [];
}

/** Names of the connection; `te` and `trailer` are never in a response made here. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** HTTP/1.1's way to say that the connection ends with the response is a GOAWAY in HTTP/2. */
function writtenHead(
  status: number,
  head: readonly string[],
): { headers: OutgoingHttpHeaders; closesConnection: boolean } {
  const headers: OutgoingHttpHeaders = Object.create(null);
  headers[":status"] = status;
  let closesConnection = false;
  for (let i = 0; i < head.length; i += 2) {
    const name = (head[i] ?? "").toLowerCase();
    const value = head[i + 1] ?? "";
    if (CONNECTION_HEADERS.has(name)) {
      closesConnection ||= name === "connection" && value === "close";
      continue;
    }
    addField(headers, name, value);
  }
  return { headers, closesConnection };
}

/** Throws on what can't be a field. */
function addField(headers: OutgoingHttpHeaders, name: string, value: string): void {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else headers[name] = [before, value].flat().map(String);
}

/** The head of a request of HTTP/2, taken apart (RFC 9113 8.3.1). */
export interface Http2Head {
  readonly method: string;
  /** The target. */
  readonly path: string;
  /** The flat header list; `:authority` is its Host. */
  readonly list: string[];
  readonly acceptsTrailers: boolean;
}

/**
 * Reads a head as a flat list with its pseudo-header fields. A string is what is wrong. nghttp2 has checked the order and
 * the presence of pseudo-header fields, refused what belongs to a connection (8.2.2) and left out fields with bytes that no
 * field has. Host comes from `:authority`; a second, other one stays in the list and is refused as two. Whether a request of
 * this method and target is served is for `validateRequest` to say, as for every protocol.
 */
export function readHttp2Head(headers: readonly string[]): Http2Head | string {
  let [method, path, scheme] = ["", "", ""];
  let authority: string | undefined;
  const list: string[] = [];
  let cookieAt = -1;
  let acceptsTrailers = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    if (name.charCodeAt(0) === COLON) {
      if (name === ":method") method = value;
      else if (name === ":path") path = value;
      else if (name === ":scheme") scheme = value;
      else if (name === ":authority") {
        authority = value;
        list.push("host", value);
      } else return "an unknown pseudo-header field";
    } else if (name === "cookie" && cookieAt !== -1) {
      // RFC 9113 8.2.3: the crumbs of a cookie are one header to everybody else.
      list[cookieAt] = `${list[cookieAt]}; ${value}`;
    } else {
      // RFC 9113 8.2.2: it says this or nothing.
      if (name === "te") acceptsTrailers = value === "trailers";
      if (name === "cookie") cookieAt = list.length + 1;
      if (name !== "host" || value !== authority) list.push(name, value);
    }
  }
  // CONNECT has none (RFC 9113 8.5). For other schemes nghttp2 checks neither path nor authority.
  if (scheme !== "http" && scheme !== "https" && method !== "CONNECT") return "no scheme of HTTP";
  return { method, path, list, acceptsTrailers };
}

const COLON = 0x3a;
