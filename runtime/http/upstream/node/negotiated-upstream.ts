import type { Socket } from "node:net";
import type { Connect, Lookup } from "../../../net/connector.ts";
import type {
  AbortReason,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { Http1Pool } from "./http1-connection.ts";
import { writtenCall } from "./http1-message.ts";
import { Http1ClientRequest } from "./http1-upstream.ts";
import { Http2Pool } from "./http2-pool.ts";
import { Http2ClientRequest } from "./http2-request.ts";
import { http2Destination } from "./http2-upstream.ts";
import { ServerUpstream } from "./server-upstream.ts";

/** A server that chooses the version of HTTP when a connection is opened (ALPN, RFC 7301). */
export class NegotiatedUpstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #connect: Connect;
  readonly #connectTimeout: number;
  /** Pool of the chosen version; `undefined` if it is unknown. */
  #pool: Http1Pool | Http2Pool | undefined;
  /** Requests that wait for the version. */
  readonly #waiting = new Set<WaitingRequest>();
  #isClosed = false;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    this.#connect = this.connectors.negotiated();
    this.#connectTimeout = settings.connectTimeout;
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    if (this.#pool !== undefined) return this.#sendOver(this.#pool, call, handler);
    const request = new WaitingRequest((pool) => this.#sendOver(pool, call, handler));
    this.#waiting.add(request);
    if (this.#waiting.size === 1) this.#ask();
    return request;
  }

  protected override closePool(): boolean {
    this.#isClosed = true;
    if (this.#waiting.size === 0) this.#pool?.close();
    return true;
  }

  /** Opens the first connection, which is then used for the first request. */
  #ask(): void {
    this.#connect((error, socket) => {
      const isHttp2 = socket !== null && agreedOn(socket) === "h2";
      // Without a connection, the waiting requests fail as on any other pool.
      const pool = this.#poolOver(isHttp2, error, socket);
      if (socket !== null) this.#pool = pool;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const request of waiting) request.start(pool);
      if (this.#isClosed) pool.close();
    });
  }

  #poolOver(isHttp2: boolean, error: Error | null, first: Socket | null): Http1Pool | Http2Pool {
    let isFirst = true;
    const connect: Connect = (done) => {
      if (first === null) {
        done(error, null);
      } else if (isFirst) {
        isFirst = false;
        done(null, first);
      } else {
        this.#connect((failure, socket) => {
          if (socket === null || (agreedOn(socket) === "h2") === isHttp2) {
            done(failure, socket);
            return;
          }
          // The server chose another version this time: the next request negotiates again.
          this.#pool = undefined;
          socket.destroy();
          done(new Error("the server has changed its version of HTTP"), null);
        });
      }
    };
    if (!isHttp2) return new Http1Pool(connect);
    return new Http2Pool(http2Destination(this.origin, connect, this.#connectTimeout));
  }

  #sendOver(
    pool: Http1Pool | Http2Pool,
    call: UpstreamCall,
    handler: UpstreamHandler,
  ): UpstreamRequest {
    const { requestTimeout, authority } = this;
    const counts = this.countsOf(pool);
    const scheme = this.url.protocol.slice(0, -1);
    const request =
      pool instanceof Http1Pool
        ? new Http1ClientRequest(pool, writtenCall(call), handler, requestTimeout, counts)
        : new Http2ClientRequest(
            pool,
            call,
            handler,
            { scheme, authority, requestTimeout },
            counts,
          );
    request.start();
    return request;
  }
}

/** A request that is sent once the version is known. */
class WaitingRequest implements UpstreamRequest {
  readonly #send: (pool: Http1Pool | Http2Pool) => UpstreamRequest;
  #sent: UpstreamRequest | undefined;
  #isAborted = false;

  constructor(send: (pool: Http1Pool | Http2Pool) => UpstreamRequest) {
    this.#send = send;
  }

  start(pool: Http1Pool | Http2Pool): void {
    if (!this.#isAborted) this.#sent = this.#send(pool);
  }

  abort(reason?: AbortReason): void {
    this.#isAborted = true;
    this.#sent?.abort(reason);
  }

  resume(): void {
    this.#sent?.resume();
  }
}

function agreedOn(socket: Socket): unknown {
  return "alpnProtocol" in socket ? socket.alpnProtocol : undefined;
}
