import { type Exchange, logFields } from "../http/exchange.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../http/upstream/upstream.ts";
import { UnsentRequest, WrappedUpstream } from "../http/upstream/wrapped-upstream.ts";
import type { RuleVerdict } from "./rule-verdict.ts";

/** Makes an upstream one that gets only the requests that its own rules allow; the log says which one forbids another. */
export function guardedBy(
  authorize: (exchange: Exchange) => RuleVerdict,
): (server: Upstream) => Upstream {
  return (server) => new GuardedUpstream(server, authorize);
}

/** An upstream with rules of its own; what the gateway asks for itself is not theirs. */
class GuardedUpstream extends WrappedUpstream {
  readonly #authorize: (exchange: Exchange) => RuleVerdict;

  constructor(server: Upstream, authorize: (exchange: Exchange) => RuleVerdict) {
    super(server);
    this.#authorize = authorize;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return this.#refusal(call, handler) ?? this.server.send(call, handler);
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    return this.#refusal(call, handler) ?? this.server.upgrade(call, protocol, handler);
  }

  #refusal({ exchange }: UpstreamCall, handler: UpstreamHandler): UpstreamRequest | undefined {
    const verdict = exchange && this.#authorize(exchange);
    if (exchange === undefined || verdict?.isAllowed !== false) return undefined;
    logFields(exchange.record).set("rule", verdict.rule);
    return new UnsentRequest(handler, denied);
  }
}

const denied: UpstreamFailure = {
  kind: "protocol",
  isOfRequest: true,
  isDenied: true,
  detail: "the backend's own rules forbid it",
};
