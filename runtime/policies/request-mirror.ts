import { withoutSubscription } from "../auth/subscription-tokens.ts";
import { upstreamCall } from "../backends/host.ts";
import { isBodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendTraced } from "../http/upstream/traced-request.ts";
import type { Upstream, UpstreamCall, UpstreamHandler } from "../http/upstream/upstream.ts";
import { TeeBody } from "./request-mirror/tee-body.ts";

/** The destination of copied requests. */
export interface MirrorSettings {
  readonly upstream: Upstream;
  /** The share of requests that is copied, 0 to 1. */
  readonly share: number;
  /** Milliseconds after which an unanswered copy is aborted. */
  readonly timeout: number;
}

/**
 * Sends a copy of the request with its body. Its response and its failures are ignored. The token of a client's subscription is
 * meant for one vendor, so the copy does not have it.
 */
export function mirrorRequest(exchange: Exchange, settings: MirrorSettings): void {
  const { upstream, share } = settings;
  if (share < 1 && Math.random() >= share) return;
  const sent = upstreamCall(exchange, upstream);
  const headers = withoutSubscription(sent.headers, (name) => exchange.header(name));
  const call = { ...sent, headers };
  const { body } = call;
  if (!isBodySource(body)) {
    start(exchange, settings, call);
    return;
  }
  const copied = new TeeBody(body, exchange.gateway.buffers);
  exchange.setRequestBody(copied);
  start(exchange, settings, { ...call, body: copied.copy });
}

function start(
  { trace }: Exchange,
  { upstream, timeout }: MirrorSettings,
  call: UpstreamCall,
): void {
  const reader = new Discard();
  const request = sendTraced(trace, upstream, call, reader);
  reader.timer = setTimeout(() => request.abort("timeout"), timeout);
  reader.timer.unref();
}

/** Discards a response. */
class Discard implements UpstreamHandler {
  timer: NodeJS.Timeout | undefined;

  onHead(): void {}

  onData(): boolean {
    return true;
  }

  onEnd(): void {
    clearTimeout(this.timer);
  }

  onError(): void {
    clearTimeout(this.timer);
  }
}
