import {
  forward,
  isMovable,
  keepUnsent,
  Relay,
  type ServerChoice,
  upstreamCall,
} from "../backends/host.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendTraced } from "../http/upstream/traced-request.ts";
import type { Upstream, UpstreamFailure, UpstreamRequest } from "../http/upstream/upstream.ts";

/**
 * Forwards like `forward`, to one upstream or a choice of several, with a limit: if the whole response has not arrived
 * `limit` milliseconds after the request was sent, the client gets a 504, or is disconnected if the response has begun.
 * Upgraded connections have no limit.
 */
export function forwardWithin(
  exchange: Exchange,
  server: Upstream | ServerChoice,
  limit: number,
): void {
  const [upstream, choice] = "next" in server ? [server.next(), server] : [server, undefined];
  if (exchange.upgrade !== undefined) {
    forward(exchange, upstream, choice);
    return;
  }
  exchange.record.upstream = upstream.name;
  const started = performance.now();
  const move =
    choice &&
    ((failure: UpstreamFailure) => {
      const left = limit - (performance.now() - started);
      if (!isMovable(failure) || left <= 0 || exchange.isOver || !choice.hasUntried) return false;
      keepUnsent(exchange, failure);
      forwardWithin(exchange, choice, left);
      return true;
    });
  const relay = new TimedRelay(exchange, limit, move);
  relay.start(sendTraced(exchange.trace, upstream, upstreamCall(exchange, upstream), relay));
}

/** The failure of a request that takes too long. */
export const timedOut: UpstreamFailure = { kind: "timeout", detail: "request timeout" };

/** Forwards a response that must end within `limit` milliseconds. */
export class TimedRelay extends Relay {
  readonly #exchange: Exchange;
  readonly #limit: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `move`: see `Relay`. */
  constructor(exchange: Exchange, limit: number, move?: (failure: UpstreamFailure) => boolean) {
    super(exchange, undefined, move);
    this.#exchange = exchange;
    this.#limit = limit;
  }

  override start(request: UpstreamRequest): void {
    super.start(request);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      request.abort("timeout");
      super.onError(timedOut);
    }, this.#limit);
    this.#exchange.onAbort(() => clearTimeout(this.#timer));
  }

  override onEnd(trailers: readonly string[] | undefined): void {
    this.#finish();
    super.onEnd(trailers);
  }

  override onError(failure: UpstreamFailure): void {
    this.#finish();
    super.onError(failure);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
