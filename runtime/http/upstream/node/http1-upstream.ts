import type { Lookup } from "../../../net/lookup.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { Http1Pool } from "./http1-pool.ts";
import { Http1ClientRequest } from "./http1-request.ts";
import { ServerUpstream } from "./server-upstream.ts";

/** A server that is asked in HTTP/1.1. */
export class Http1Upstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #pool: Http1Pool;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    this.#pool = new Http1Pool(this.connectors.http1());
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const counts = this.countsOf(this.#pool);
    const request = new Http1ClientRequest(this.#pool, call, handler, this.requestTimeout, counts);
    request.start();
    return request;
  }

  protected override closePool(): void {
    this.#pool.close();
  }
}
