import type { Lookup } from "../../../net/lookup.ts";
import { KiB, MiB } from "../../../process/units.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { Http2Pool } from "./http2-pool.ts";
import { Http2ClientRequest, type Http2RequestExtras } from "./http2-request.ts";
import { ServerUpstream } from "./server-upstream.ts";

/** A server that is asked in HTTP/2 and nothing else. */
export class Http2Upstream extends ServerUpstream {
  override readonly takesTrailers = true;
  readonly #pool: Http2Pool;
  readonly #extras: Http2RequestExtras;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    this.#pool = new Http2Pool({
      origin: this.origin,
      connect: this.connectors.http2(),
      connectTimeout: settings.connectTimeout,
      streamWindow: 256 * KiB,
      connectionWindow: 4 * MiB,
    });
    this.#extras = {
      scheme: this.url.protocol.slice(0, -1),
      authority: this.authority,
      requestTimeout: this.requestTimeout,
    };
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const counts = this.countsOf(this.#pool);
    const request = new Http2ClientRequest(this.#pool, call, handler, this.#extras, counts);
    request.start();
    return request;
  }

  protected override closePool(): void {
    this.#pool.close();
  }
}
