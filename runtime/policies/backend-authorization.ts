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

/** Wraps an upstream so that it receives only requests that its own rules allow; the log names the rule that denies one. */
export function guardedBy(
  authorize: (exchange: Exchange) => RuleVerdict,
): (server: Upstream) => Upstream {
  return (server) => new GuardedUpstream(server, authorize);
}

/** An upstream with its own rules; requests of the gateway itself are not checked. */
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
  detail: "denied by the backend's own rules",
};
