import type {
  LinesCall,
  Upstream,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";

/** What a provider is sent. */
export type ProviderRequest = UpstreamCall | LinesCall;

/** Sends it. Lines go to those upstreams alone that take them. */
export function send(
  call: ProviderRequest,
  upstream: Upstream,
  handler: UpstreamHandler,
): UpstreamRequest {
  if ("headers" in call) return upstream.send(call, handler);
  if (upstream.sendLines === undefined) throw new Error("the provider takes no lines");
  return upstream.sendLines(call, handler);
}
