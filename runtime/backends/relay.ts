import { type Exchange, logFields } from "../http/exchange.ts";
import type { CallSpan } from "../http/exchange-trace.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { sendableTrailers } from "../http/headers/trailers.ts";
import type { ReceivedFields } from "../http/http1/received-fields.ts";
import { refuse } from "../http/refuse.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../http/upstream/upstream.ts";

/** Passes one response of an upstream on to the client. */
export class Relay implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #span: CallSpan | undefined;
  readonly #move: ((failure: UpstreamFailure) => boolean) | undefined;
  #request: UpstreamRequest | undefined;
  #unwanted = 0;

  /**
   * `span`: that of the request, which ends with it; absent: it has none, or another one sees to it. `move`: sends the
   * request elsewhere after a failure, and returns whether it did; absent: there is no other server.
   */
  constructor(
    exchange: Exchange,
    span?: CallSpan,
    move?: ((failure: UpstreamFailure) => boolean) | undefined,
  ) {
    this.#exchange = exchange;
    this.#span = span;
    this.#move = move;
  }

  /** The request whose response comes; it ends when the client leaves. */
  start(request: UpstreamRequest): void {
    this.#request = request;
    this.#exchange.onAbort(() => this.#abort());
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#span?.responded(status);
    this.#passHead(status, headers);
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.#span?.responded(status);
    const { acceptsTrailers, upstreamMethod, original } = this.#exchange;
    if (acceptsTrailers || upstreamMethod !== original.method) this.#passHead(status, fields.list);
    else this.#exchange.passHead(status, fields);
  }

  onData(chunk: Buffer): boolean {
    if (this.#exchange.isOver) return this.#drop(chunk);
    if (this.#exchange.write(chunk)) return true;
    this.#exchange.onDrain(() => this.#request?.resume());
    return false;
  }

  get holdsNothing(): boolean {
    return this.#exchange.holdsNothing;
  }

  onEnd(trailers?: readonly string[]): void {
    this.#span?.completed();
    if (trailers === undefined) {
      this.#exchange.end();
      return;
    }
    this.#noteStatus(trailers);
    this.#exchange.end(sendableTrailers(trailers));
  }

  onError(failure: UpstreamFailure): void {
    this.#span?.end(failure.kind);
    const exchange = this.#exchange;
    // The client has another response already, or has left.
    if (exchange.isOver || this.#move?.(failure) === true) return;
    logFields(exchange.record).set("error", failure.detail);
    if (exchange.headersSent && !exchange.withdrawResponse()) {
      // The client must see that the response is not complete.
      exchange.record.reason = "UpstreamFailure";
      exchange.abort();
      return;
    }
    if (failure.isUnauthorized === true) {
      const { status, reason, message, headers } = unauthorized;
      refuse(exchange, status, reason, message, headers);
      return;
    }
    const { status, reason, message } = refusalOf(failure);
    refuse(exchange, status, reason, message);
  }

  #passHead(status: number, headers: readonly string[]): void {
    const { upstreamMethod, original } = this.#exchange;
    // The length that a response to HEAD announces is not that of a response to what the client asked.
    const isBodiless = upstreamMethod === "HEAD" && original.method !== "HEAD";
    const length = isBodiless ? 0 : contentLength(headers);
    if (this.#exchange.acceptsTrailers && this.#noteStatus(headers)) {
      // gRPC's status in the head: these are trailers alone, and the head has to end the response.
      this.#exchange.respond(status, endToEnd(headers, ""));
      return;
    }
    this.#exchange.writeHead(status, endToEnd(headers, ""), length);
  }

  /** Notes gRPC's status for the log; whether there is one. */
  #noteStatus(fields: readonly string[]): boolean {
    const status = headerValue(fields, "grpc-status");
    if (status === undefined) return false;
    const { record } = this.#exchange;
    logFields(record).set("grpc.status", status);
    return true;
  }

  /** The client has another response already. */
  #drop(chunk: Buffer): true {
    this.#unwanted += chunk.length;
    if (this.#unwanted > MAX_UNWANTED) this.#abort();
    return true;
  }

  #abort(): void {
    this.#span?.end("aborted");
    this.#request?.abort();
  }
}

/** Bytes of a response that nobody wants which are read all the same: its connection can then be kept. */
const MAX_UNWANTED = 65_536;

function refusalOf({ kind, isForbidden, isDenied }: UpstreamFailure) {
  if (isDenied === true) return denied;
  return isForbidden === true ? forbidden : refusals[kind];
}

/** What the client gets when there is no response. */
const refusals = {
  connect: { status: 503, reason: "UpstreamFailure", message: "upstream is not reachable" },
  timeout: { status: 504, reason: "Timeout", message: "upstream did not answer in time" },
  closed: { status: 502, reason: "UpstreamFailure", message: "upstream closed the connection" },
  protocol: { status: 502, reason: "UpstreamFailure", message: "upstream gave no valid response" },
} as const;

/** What the client gets when it may not reach what it asked for. */
export const forbidden = {
  status: 403,
  reason: "ForbiddenDestination",
  message: "this destination is not allowed",
} as const;

/** What the client gets when the rules of the backend forbid its request. */
const denied = { status: 403, reason: "Authorization", message: "authorization failed" } as const;

/** What the client gets when its token is none that the backend could be shown another one for (RFC 6750 3). */
const unauthorized = {
  status: 401,
  reason: "JwtAuth",
  message: "authentication failure: the token is not valid for this backend",
  headers: ["www-authenticate", "Bearer"],
} as const;

/** The body's length when the upstream announced it. That it is one number was checked when it was read. */
function contentLength(headers: readonly string[]): number | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      return Number(headers[i + 1]);
    }
  }
  return undefined;
}
