import { Relay, TunnelRelay } from "../backends/host.ts";
import type { Exchange } from "../http/exchange.ts";
import { noBackend } from "../http/refuse.ts";
import { sendTraced, upgradeTraced } from "../http/upstream/traced-request.ts";
import type { UpstreamCall } from "../http/upstream/upstream.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import { type RetryTarget, sendRetrying } from "../policies/retry.ts";
import { TimedRelay } from "../policies/timeout.ts";
import { passedHeaders } from "./calls/call-headers.ts";
import { RETRIED_STATUSES } from "./calls/limits.ts";
import { refuseClosedModel } from "./calls/open-models.ts";
import { recordProvider } from "./calls/record-call.ts";
import type { AnyTarget, TargetChoice } from "./calls/target.ts";
import type { Provider } from "./providers/provider.ts";

/** Who gets the requests of a route that nobody looks into. Times in milliseconds; absent: no limit. */
export interface PassService<Target extends AnyTarget = PassTarget> {
  readonly targets: TargetChoice<Target>;
  /** To the end of the response, whoever is asked. */
  readonly timeout?: number;
  /** The same for each provider that is asked. */
  readonly attemptTimeout?: number;
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
  if (refuseClosedModel(exchange, undefined)) return;
  const target = firstOf(exchange, service);
  if (target === undefined) return;
  passTo(exchange, target.provider, { ...service, path: pathAt(exchange, target) });
}

/**
 * The same, and to the next provider in the place of one that fails, while nothing of a response is there and the body is
 * short enough to be kept. `tried` says how often; each is asked once where it is absent.
 */
export function passInTurn(exchange: Exchange, service: PassService, tried?: TriedCall): void {
  if (exchange.upgrade !== undefined) {
    passRequest(exchange, service);
    return;
  }
  if (refuseClosedModel(exchange, undefined)) return;
  const targets = passTargets(service, tried)[Symbol.iterator]();
  const { attempts, backoff, codes } = tried?.tries ?? onceEach;
  const settings = {
    attempts,
    backoff,
    codes: new Set([...codes, ...RETRIED_STATUSES]),
    requestTimeout: service.timeout,
    attemptTimeout: service.attemptTimeout,
  };
  const next = (): RetryTarget | undefined => {
    const { value: target } = targets.next();
    return target && passTarget(exchange, service, target);
  };
  sendRetrying(exchange, next, settings, tried?.isWanted);
}

const onceEach = { attempts: Number.POSITIVE_INFINITY, backoff: 0, codes: new Set<number>() };

/** The providers in turn; with a policy of tries those again behind the last one. */
function* passTargets(
  { targets }: PassService,
  tried: TriedCall | undefined,
): Generator<PassTarget, undefined> {
  yield* targets(undefined) ?? [];
  while (tried?.tries.budget.take(performance.now()) === true) yield* targets(undefined) ?? [];
  return undefined;
}

function passTarget(
  exchange: Exchange,
  { providerHeader }: PassService,
  target: PassTarget,
): RetryTarget {
  const { provider } = target;
  return {
    upstream: provider.upstream,
    call: () => {
      if (providerHeader !== undefined) exchange.setResponseHeader(providerHeader, provider.name);
      recordProvider(exchange, provider);
      return passedCall(exchange, provider, pathAt(exchange, target));
    },
  };
}

function pathAt({ query, upstreamTarget }: Exchange, { path }: PassTarget): string {
  return path === undefined ? upstreamTarget : withQuery(path, query);
}

/** The provider whose turn it is. Undefined: there is none. */
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
  const call = passedCall(exchange, provider, path);
  const { upgrade } = exchange;
  if (upgrade !== undefined) {
    const relay = openTunnel?.(exchange, upgrade) ?? new TunnelRelay(exchange, upgrade);
    relay.start(upgradeTraced(exchange.trace, upstream, call, upgrade, relay));
  } else {
    const relay = timeout === undefined ? new Relay(exchange) : new TimedRelay(exchange, timeout);
    relay.start(sendTraced(exchange.trace, upstream, call, relay));
  }
}

function passedCall(exchange: Exchange, provider: Provider, path: string): UpstreamCall {
  return {
    method: exchange.upstreamMethod,
    path: provider.upstream.basePath + path,
    headers: passedHeaders(exchange, provider, path),
    body: exchange.body,
  };
}
