import type { Connect, Lookup } from "../../../net/connector.ts";
import { processMetrics } from "../../../process/offered-values.ts";
import { KiB, MiB } from "../../../process/units.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { Http2Pool } from "./http2-pool.ts";
import { Http2ClientRequest, type Http2RequestExtras } from "./http2-request.ts";
import type { Http2Destination } from "./http2-session.ts";
import { PoolShare, ServerUpstream, SharedPools } from "./server-upstream.ts";

class Http2Pools extends SharedPools<Http2Pool> {}

/** A server over HTTP/2 only. */
export class Http2Upstream extends ServerUpstream {
  override readonly takesTrailers = true;
  readonly #share: PoolShare<Http2Pool>;
  readonly #extras: Http2RequestExtras;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    const { connectTimeout } = settings;
    const open = () =>
      new Http2Pool(http2Destination(this.origin, this.connectors.http2(), connectTimeout));
    this.#share = new PoolShare(this.connectionKey, open, () => processMetrics()?.part(Http2Pools));
    this.#extras = {
      scheme: this.url.protocol.slice(0, -1),
      authority: this.authority,
      requestTimeout: this.requestTimeout,
    };
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const { pool } = this.#share;
    const counts = this.countsOf(pool);
    const request = new Http2ClientRequest(pool, call, handler, this.#extras, counts);
    request.start();
    return request;
  }

  protected override closePool(): boolean {
    return this.#share.close();
  }
}

/** Returns a destination with the gateway's window sizes. */
export function http2Destination(
  origin: string,
  connect: Connect,
  connectTimeout: number,
): Http2Destination {
  const [streamWindow, connectionWindow] = [256 * KiB, 4 * MiB];
  return { origin, connect, connectTimeout, streamWindow, connectionWindow };
}
