import type {
  LinesCall,
  Upstream,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";

/** Request to a provider. */
export type ProviderRequest = UpstreamCall | LinesCall;

/** Sends it. Only some upstreams take lines. */
export function send(
  call: ProviderRequest,
  upstream: Upstream,
  handler: UpstreamHandler,
): UpstreamRequest {
  if ("headers" in call) return upstream.send(call, handler);
  if (upstream.sendLines === undefined) throw new Error("the provider does not take lines");
  return upstream.sendLines(call, handler);
}
