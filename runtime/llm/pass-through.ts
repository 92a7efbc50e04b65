import { Relay } from "../backends/relay.ts";
import { TunnelRelay } from "../backends/tunnel.ts";
import type { Exchange } from "../http/exchange.ts";
import { noBackend } from "../http/refuse.ts";
import { sendTraced, upgradeTraced } from "../http/upstream/traced-request.ts";
import type { UpstreamCall } from "../http/upstream/upstream.ts";
import { TimedRelay } from "../policies/timeout.ts";
import { passedHeaders } from "./calls/call-headers.ts";
import { recordProvider } from "./calls/record-call.ts";
import type { AnyTarget, TargetChoice } from "./calls/target.ts";
import type { Provider } from "./providers/provider.ts";

/** Who gets the requests of a route that nobody looks into. */
export interface PassService<Target extends AnyTarget = PassTarget> {
  readonly targets: TargetChoice<Target>;
  /** Milliseconds to the end of the response; absent: no limit. */
  readonly timeout?: number;
  /** The response header that names the provider; absent: none does. */
  readonly providerHeader?: string;
}

/** A provider that gets requests as they came. */
export interface PassTarget extends AnyTarget {
  /** In the place of the request's own path. */
  readonly path?: string;
}

/** Sends a request to a provider as it came, but for credentials, and its response back. */
export function passRequest(exchange: Exchange, service: PassService): void {
  const target = firstOf(exchange, service);
  if (target === undefined) return;
  const { provider, path } = target;
  const { query, upstreamTarget } = exchange;
  passTo(exchange, provider, {
    ...service,
    path: path === undefined ? upstreamTarget : withQuery(path, query),
  });
}

/** The provider whose turn it is: bodies pass as they come, so there is no second try. Undefined: there is none. */
export function firstOf<Target extends AnyTarget>(
  exchange: Exchange,
  { targets, providerHeader }: PassService<Target>,
): Target | undefined {
  for (const target of targets(undefined) ?? []) {
    if (providerHeader !== undefined) {
      exchange.setResponseHeader(providerHeader, target.provider.name);
    }
    return target;
  }
  noBackend(exchange);
  return undefined;
}

/** A path with a query of its own, or none, and a further one. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** How a request passes. */
export interface PassSettings {
  /** The target at the provider, in origin form. */
  readonly path: string;
  /** Milliseconds to the end of the response; absent: no limit. */
  readonly timeout?: number;
  /** What passes the bytes of another protocol on; absent: they are nobody's business. */
  readonly openTunnel?: (exchange: Exchange, protocol: string) => TunnelRelay;
}

/** Sends a request to a provider. */
export function passTo(
  exchange: Exchange,
  provider: Provider,
  { path, timeout, openTunnel }: PassSettings,
): void {
  const { upstream } = provider;
  recordProvider(exchange, provider);
  const call: UpstreamCall = {
    method: exchange.upstreamMethod,
    path: upstream.basePath + path,
    headers: passedHeaders(exchange, provider, path),
    body: exchange.body,
  };
  const { upgrade } = exchange;
  if (upgrade !== undefined) {
    const relay = openTunnel?.(exchange, upgrade) ?? new TunnelRelay(exchange, upgrade);
    relay.start(upgradeTraced(exchange.trace, upstream, call, upgrade, relay));
  } else {
    const relay = timeout === undefined ? new Relay(exchange) : new TimedRelay(exchange, timeout);
    relay.start(sendTraced(exchange.trace, upstream, call, relay));
  }
}
