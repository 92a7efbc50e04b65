import { Relay } from "../backends/relay.ts";
import { TunnelRelay } from "../backends/tunnel.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { UpstreamCall } from "../http/upstream/upstream.ts";
import { passedHeaders } from "./calls/call-headers.ts";
import { recordProvider } from "./calls/record-call.ts";
import type { Provider } from "./providers/provider.ts";

/** Sends a request to a provider as it came, but for credentials, and its response back. */
export function passThrough(exchange: Exchange, provider: Provider): Promise<void> {
  return passTo(exchange, provider, exchange.upstreamTarget);
}

/** The same, to the path of the configuration, with the query of the client. */
export function passThroughTo(exchange: Exchange, provider: Provider, path: string): Promise<void> {
  const { query } = exchange;
  return passTo(exchange, provider, query === "" ? path : `${path}?${query}`);
}

/** Sends a request to a target of a provider. `tunnel`: what watches a connection that changes its protocol. */
export async function passTo(
  exchange: Exchange,
  provider: Provider,
  target: string,
  openTunnel = openPlainTunnel,
): Promise<void> {
  const { upstream } = provider;
  recordProvider(exchange, provider);
  const call: UpstreamCall = {
    method: exchange.upstreamMethod,
    path: target,
    headers: passedHeaders(exchange, provider),
    body: exchange.body,
  };
  try {
    await provider.credential?.(call, upstream);
  } catch {
    const message = "the gateway has no credentials for the provider";
    refuse(exchange, 502, "UpstreamFailure", message);
    return;
  }
  const { upgrade } = exchange;
  if (upgrade === undefined) {
    const relay = new Relay(exchange);
    relay.start(upstream.send(call, relay));
  } else {
    const relay = openTunnel(exchange, upgrade);
    relay.start(upstream.upgrade(call, upgrade, relay));
  }
}

function openPlainTunnel(exchange: Exchange, protocol: string): TunnelRelay {
  return new TunnelRelay(exchange, protocol);
}
