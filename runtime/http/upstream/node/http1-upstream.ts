import type { Lookup } from "../../../net/lookup.ts";
import { processMetrics } from "../../../process/metrics-source.ts";
import type {
  LinesCall,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { Http1Pool } from "./http1-pool.ts";
import { Http1ClientRequest } from "./http1-request.ts";
import { type WrittenCall, writtenCall, writtenLines } from "./http1-request-head.ts";
import { failedCall, refusedTunnel, ServerUpstream } from "./server-upstream.ts";
import { PoolShare, SharedPools } from "./shared-pools.ts";

class Http1Pools extends SharedPools<Http1Pool> {}

/** A server that is asked in HTTP/1.1. */
export class Http1Upstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #share: PoolShare<Http1Pool>;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    const open = () => new Http1Pool(this.connectors.http1());
    this.#share = new PoolShare(this.connectionKey, open, () => processMetrics()?.part(Http1Pools));
  }

  /** Bound: it is handed on. */
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
