import type { Lookup } from "../../../net/connector.ts";
import type { Borrower } from "../../../net/socket-reads.ts";
import { processMetrics } from "../../../process/offered-values.ts";
import { type BodySource, collect, isBodySource } from "../../body/body.ts";
import { CountedBuffer } from "../../body/counted-buffer.ts";
import { isSafe } from "../../request-line.ts";
import { CountedRequest, type RequestCounts } from "../counted-request.ts";
import type {
  LinesCall,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { connectFailure, senderLeft, unsendable } from "../upstream-failures.ts";
import {
  type CloseReason,
  type Http1Connection,
  Http1Pool,
  type Http1User,
  type Waiter,
} from "./http1-connection.ts";
import { type Http1Head, type WrittenCall, writtenCall, writtenLines } from "./http1-message.ts";
import {
  failedCall,
  PoolShare,
  refusedTunnel,
  ServerUpstream,
  SharedPools,
} from "./server-upstream.ts";

class Http1Pools extends SharedPools<Http1Pool> {}

/** A server over HTTP/1.1. */
export class Http1Upstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #share: PoolShare<Http1Pool>;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    const open = () => new Http1Pool(this.connectors.http1());
    this.#share = new PoolShare(this.connectionKey, open, () => processMetrics()?.part(Http1Pools));
  }

  /** Bound, because it is passed on as a function. */
  readonly sendLines = (call: LinesCall, handler: UpstreamHandler): UpstreamRequest => {
    const { method, path, body, length } = call;
    if (method === "CONNECT") return refusedTunnel(handler);
    const lines = this.withCredential(call.lines);
    if (typeof lines === "object") return failedCall(lines, handler);
    return this.#start(writtenLines({ method, path, lines, body, length }), handler);
  };

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return this.#start(writtenCall(call), handler);
  }

  protected override closePool(): boolean {
    return this.#share.close();
  }

  #start(call: WrittenCall, handler: UpstreamHandler): UpstreamRequest {
    const { pool } = this.#share;
    const counts = this.countsOf(pool);
    const request = new Http1ClientRequest(pool, call, handler, this.requestTimeout, counts);
    request.start();
    return request;
  }
}

/** One request over HTTP/1.1, on a connection of the pool. */
export class Http1ClientRequest extends CountedRequest implements Http1User, Waiter {
  readonly #pool: Http1Pool;
  readonly #method: string;
  #head: string | undefined;
  #body: UpstreamCall["body"];
  readonly #framing: WrittenCall["framing"];
  #connection: Http1Connection | undefined;
  /** Whether it may be sent again. */
  #canRepeat: boolean;
  #sentBody: BodySource | undefined;

  /** `requestTimeout`: milliseconds to the head of the response. `counts`: `undefined` if no gateway runs yet. */
  constructor(
    pool: Http1Pool,
    { method, body, head, framing }: WrittenCall,
    handler: UpstreamHandler,
    requestTimeout: number | undefined,
    counts: RequestCounts | undefined,
  ) {
    super(handler, requestTimeout, counts);
    this.#pool = pool;
    this.#method = method;
    this.#head = head;
    this.#body = body;
    this.#framing = framing;
    this.#canRepeat = body === null && isSafe(method);
  }

  start(): void {
    const body = this.#body;
    if (!isBodySource(body) || body.length === undefined || body.length > ONE_WRITE) {
      this.#send();
      return;
    }
    const whole = body.takeWhole?.();
    if (whole !== undefined) {
      this.#body = whole;
      this.#send();
      return;
    }
    this.#sentBody = body;
    collect(body, ONE_WRITE, new CountedBuffer(undefined), (bytes) => {
      this.#sentBody = undefined;
      if (this.isOver) return;
      if (typeof bytes === "string") {
        this.giveUp(senderLeft);
        return;
      }
      this.#body = bytes;
      this.#send();
    });
  }

  get borrower(): Borrower | undefined {
    return this.handler.borrower;
  }

  override resume(): void {
    this.#connection?.resume();
  }

  use(connection: Http1Connection): void {
    const head = this.#head ?? "";
    const body = this.#body;
    const framing = this.#framing;
    const isChunked = framing === "chunked";
    this.#connection = connection;
    connection.begin(this, this.#method === "HEAD");
    if (!isBodySource(body)) {
      connection.send(head, body, framing);
      // Its response may take long.
      if (!this.#canRepeat) this.#forget();
      return;
    }
    this.#sentBody = body;
    connection.writeHead(head);
    body.flow({
      carrier: connection,
      onData: (chunk) => {
        if (this.#connection !== connection || chunk.length === 0) return;
        if (!connection.write(chunk, isChunked)) body.pause();
      },
      onEnd: () => {
        if (this.#connection === connection) connection.end(isChunked, body.trailers);
      },
      onAbort: () => {
        if (this.#connection === connection) this.giveUp(senderLeft);
      },
    });
  }

  onNoConnection(error: Error): void {
    this.fail({ ...connectFailure(error), unsent: { body: this.#body } });
  }

  onInformation(): void {
    this.onInterim();
  }

  onResponse({ status, fields }: Http1Head): void {
    // It is not sent again, and the response may take long.
    this.#forget();
    if (!this.isOver) this.onHead(status, fields);
  }

  onData(chunk: Buffer): boolean {
    return this.isOver || this.handler.onData(chunk);
  }

  onComplete(trailers: readonly string[] | undefined): void {
    this.#connection = undefined;
    this.#sentBody?.discard();
    if (!this.isOver) this.complete(trailers);
  }

  onClose({ kind, detail, hasBegun }: CloseReason): void {
    this.#connection = undefined;
    this.#sentBody?.discard();
    // A server may close an idle connection while a request is on its way: the request is sent again once (RFC 9112 9.3.1).
    if (!hasBegun && kind === "closed" && this.#canRepeat && !this.isOver) {
      this.#canRepeat = false;
      this.#send();
    } else this.fail({ kind, detail });
  }

  onDrain(): void {
    this.#sentBody?.resume();
  }

  protected override breakOff(): void {
    if (this.#connection === undefined) this.#pool.leave(this);
    else this.#connection.abort();
    this.#connection = undefined;
    this.#sentBody?.discard();
  }

  #send(): void {
    if (this.#head === undefined) {
      // The handler must be notified after `send` has returned.
      setImmediate(() => this.fail(unsendable));
      return;
    }
    this.#pool.take(this);
  }

  #forget(): void {
    this.#head = undefined;
    this.#body = null;
  }
}

/** Bodies with at most this many bytes are collected and written with the head, which costs half as much as a stream. */
const ONE_WRITE = 16_384;
