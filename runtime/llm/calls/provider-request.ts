import type { Exchange } from "../../http/exchange.ts";
import type {
  LinesCall,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { Provider } from "../providers/provider.ts";

/** Request to a provider. */
export type ProviderRequest = UpstreamCall | LinesCall;

/** Sends it for an exchange. Only some upstreams take lines. */
export function send(
  call: ProviderRequest,
  { upstream, isPicked }: Provider,
  handler: UpstreamHandler,
  exchange: Exchange,
): UpstreamRequest {
  if ("headers" in call) return upstream.send(isPicked ? { ...call, exchange } : call, handler);
  if (upstream.sendLines === undefined) throw new Error("the provider does not take lines");
  return upstream.sendLines(call, handler);
}
