import { validateHeaderName, validateHeaderValue } from "node:http";
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { BodySink } from "../../body/body.ts";
import { frameMessage } from "../../http1/message-reader.ts";
import type { EngineRequest, EngineResponse } from "../engine.ts";

/** An HTTP/2 request. Its pseudo headers correspond to HTTP/1.1's first line and Host. */
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

  /** `hasBody`: whether more than the head follows. */
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
      // RFC 9113 8.1.1: the body must not look complete.
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      this.#abort();
    });
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    const stream = this.#stream;
    // Node emits the end of an empty body at once, even without a listener.
    if (stream.readableEnded) {
      this.#end();
      return;
    }
    stream.on("end", () => this.#end());
    // "close" also follows a complete body, but the sink is gone by then.
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

/** Response on an HTTP/2 stream. */
export class Http2Response implements EngineResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #isHead: boolean;
  /** Whether the client accepts trailers: Node requests them after everything else is written. */
  readonly #acceptsTrailers: boolean;
  readonly #trailers: OutgoingHttpHeaders = Object.create(null);
  statusCode = 0;
  /** Head of a response of which nothing was sent yet. */
  #head: OutgoingHttpHeaders | undefined;
  /** Whether the head ended the response, because RFC 9110 allows no body. */
  #isBodiless = false;
  #isEnded = false;
  /** Milliseconds that a client may read nothing. */
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

  /** Node also ends a stream that its client resets; only one that was ended here before is complete. */
  get writableFinished(): boolean {
    return this.#isEnded && !this.#stream.aborted;
  }

  /** Delays the head until something follows, because a head without a body ends the stream itself. */
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
    // With an error, Node sends RST_STREAM at once; `close` would end the body first, which would look complete.
    this.#stream.destroy(new Error("the response is aborted"));
  }

  on(event: "drain" | "close", listener: () => void): void {
    this.#stream.on(event, listener);
  }

  /** Runs until the stream has room again, or has ended. */
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

/** Returns the fields as received, which Node passes although its types only know the object. */
export function rawHeaders(list: unknown): readonly string[] {
  return Array.isArray(list) ? list : [];
}

/** Fields of a connection; responses never contain `te` or `trailer`. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Converts a head. HTTP/1.1's `Connection: close` becomes a GOAWAY in HTTP/2. */
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

/** Throws if a field is invalid. */
function addField(headers: OutgoingHttpHeaders, name: string, value: string): void {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else headers[name] = [before, value].flat().map(String);
}

/** The parsed head of an HTTP/2 request (RFC 9113 8.3.1). */
export interface Http2Head {
  readonly method: string;
  /** Target of the request. */
  readonly path: string;
  /** Flat header list, with `:authority` as Host. */
  readonly list: string[];
  readonly acceptsTrailers: boolean;
}

/**
 * Parses a head from a flat list with pseudo-header fields. Returns a string that says what is wrong. nghttp2 has checked order
 * and presence of pseudo-header fields, refused fields of the connection (8.2.2) and dropped fields with invalid bytes. Host
 * comes from `:authority`; a different second one stays in the list and is refused as two. Method and target are checked by
 * `validateRequest`, as for every protocol.
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
      // RFC 9113 8.2.3: the parts of a cookie are one header elsewhere.
      list[cookieAt] = `${list[cookieAt]}; ${value}`;
    } else {
      // RFC 9113 8.2.2: no other value is allowed.
      if (name === "te") acceptsTrailers = value === "trailers";
      if (name === "cookie") cookieAt = list.length + 1;
      if (name !== "host" || value !== authority) list.push(name, value);
    }
  }
  // CONNECT has no scheme (RFC 9113 8.5). nghttp2 checks neither path nor authority of other schemes.
  if (scheme !== "http" && scheme !== "https" && method !== "CONNECT")
    return "a scheme other than http and https";
  return { method, path, list, acceptsTrailers };
}

const COLON = 0x3a;
