import { isBodySource } from "../../http/body/body.ts";
import { ReplayBody } from "../../http/body/replay-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";

/** Maximum bytes of a body that are kept for the next server, if the connection to the first one fails. */
const KEPT_BODY = 65_536;

/** Several servers for one request. The next one gets it if a connection cannot be opened. */
export class FallbackUpstream extends WrappedUpstream {
  readonly #upstreams: readonly [Upstream, ...Upstream[]];
  readonly #exchange: Exchange;

  constructor(upstreams: readonly [Upstream, ...Upstream[]], exchange: Exchange) {
    super(upstreams[0]);
    this.#upstreams = upstreams;
    this.#exchange = exchange;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return new FallbackRequest(this.#upstreams, call, handler, this.#exchange);
  }

  /** Does nothing: the pool closes its servers. */
  override close(): void {}
}

class FallbackRequest implements UpstreamRequest {
  readonly #upstreams: readonly Upstream[];
  readonly #call: UpstreamCall;
  readonly #handler: UpstreamHandler;
  readonly #exchange: Exchange;
  readonly #body: ReplayBody | undefined;
  #current: UpstreamRequest | undefined;
  #isOver = false;

  constructor(
    upstreams: readonly Upstream[],
    call: UpstreamCall,
    handler: UpstreamHandler,
    exchange: Exchange,
  ) {
    this.#upstreams = upstreams;
    this.#call = call;
    this.#handler = handler;
    this.#exchange = exchange;
    const { body } = call;
    if (isBodySource(body)) this.#body = new ReplayBody(body, KEPT_BODY, exchange.newBuffer());
    this.#send(0);
  }

  abort(reason?: AbortReason): void {
    this.#isOver = true;
    this.#current?.abort(reason);
  }

  resume(): void {
    this.#current?.resume();
  }

  #send(index: number): void {
    const upstream = this.#upstreams[index];
    if (upstream === undefined || this.#isOver) return;
    const { record } = this.#exchange;
    record.upstream = upstream.name;
    record.fields?.set("inferencepool.selected_endpoint", upstream.name);
    const isLast = index === this.#upstreams.length - 1;
    const body = this.#body === undefined ? this.#call.body : this.#body.read();
    if (isLast) this.#body?.keepNothing();
    const request = upstream.send(
      { ...this.#call, headers: [...this.#call.headers], body },
      {
        onHead: (status, headers) => {
          this.#body?.keepNothing();
          this.#handler.onHead(status, headers);
        },
        onData: (chunk) => this.#handler.onData(chunk),
        onEnd: (trailers) => this.#handler.onEnd(trailers),
        onError: (failure) => this.#failed(index, isLast, failure),
      },
    );
    this.#current = request;
  }

  #failed(index: number, isLast: boolean, failure: UpstreamFailure): void {
    const isUnsent = failure.kind === "connect" && failure.isForbidden !== true;
    if (isUnsent && !isLast && this.#body?.isReplayable !== false) this.#send(index + 1);
    else this.#handler.onError(failure);
  }
}
