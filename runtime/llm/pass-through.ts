import { Relay, TunnelRelay } from "../backends/host.ts";
import type { Exchange } from "../http/exchange.ts";
import { withoutHeaders } from "../http/headers/header-list.ts";
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
import { ResultLines, type ResultReader } from "./stored/result-lines.ts";

/** Providers of a route that forwards requests unread. Times are in milliseconds; absent: no limit. */
export interface PassService<Target extends AnyTarget = PassTarget> {
  readonly targets: TargetChoice<Target>;
  /** Maximum duration of the whole call. */
  readonly timeout?: number;
  /** Maximum duration of each attempt. */
  readonly attemptTimeout?: number;
  /** Response header that names the provider; absent if no header does. */
  readonly providerHeader?: string;
}

/** A provider that gets requests unread. */
export interface PassTarget extends AnyTarget {
  /** Path that replaces the request's. */
  readonly path?: string;
  /** Base path of requests, and the one that replaces it; absent if paths do not change. */
  readonly base?: { readonly from: string; readonly to: string };
}

/** Forwards a request to a provider, except for credentials, and the response to the client. */
export function passRequest(exchange: Exchange, service: PassService): void {
  if (refuseClosedModel(exchange, undefined)) return;
  const target = firstOf(exchange, service);
  if (target === undefined) return;
  passTo(exchange, target.provider, { ...service, path: pathAt(exchange, target) });
}

/**
 * Forwards a request like `passRequest`, but to the next provider if one fails before its response has started, while the
 * body is short enough to be buffered. `tried`: retry policy; if absent, each provider is tried once.
 */
export function passInTurn(exchange: Exchange, service: PassService, tried?: TriedCall): void {
  if (exchange.upgrade !== undefined) {
    passRequest(exchange, service);
    return;
  }
  if (refuseClosedModel(exchange, undefined)) return;
  const targets = passTargets(service, tried)[Symbol.iterator]();
  const { attempts, backoff, codes } = tried?.tries ?? ONCE_EACH;
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

const ONCE_EACH = { attempts: Number.POSITIVE_INFINITY, backoff: 0, codes: new Set<number>() };

/** Yields the providers in order; with a retry policy, repeatedly. */
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

/** Returns the path and query of a request at a provider. */
export function pathAt({ query, upstreamTarget }: Exchange, { path, base }: PassTarget): string {
  if (path !== undefined) return withQuery(path, query);
  if (base === undefined) return upstreamTarget;
  const { from, to } = base;
  const isBelow = upstreamTarget === from || /^[/?]/.test(upstreamTarget.slice(from.length));
  return isBelow && upstreamTarget.startsWith(from)
    ? to + upstreamTarget.slice(from.length)
    : to + upstreamTarget;
}

/** Returns the provider to use; `undefined` if there is no provider. */
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

/** Adds a query to a path that may have one. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** Settings of a forwarded request. */
export interface PassSettings {
  /** Path and query at the provider. */
  readonly path: string;
  /** Maximum duration until the end of the response, in milliseconds; absent: no limit. */
  readonly timeout?: number;
  /** Reads the lines of a response; absent if it is forwarded unread. */
  readonly reader?: ResultReader;
  /** Creates a relay that reads the bytes of an upgraded protocol; absent if they are forwarded unread. */
  readonly openTunnel?: (exchange: Exchange, protocol: string) => TunnelRelay;
}

/** Forwards a request to a provider. */
export function passTo(
  exchange: Exchange,
  provider: Provider,
  { path, timeout, reader, openTunnel }: PassSettings,
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
    if (reader === undefined) {
      relay.start(sendTraced(exchange.trace, upstream, call, relay));
      return;
    }
    const lines = new ResultLines(exchange, relay, reader);
    // Parts of a response would begin inside of a line.
    const headers = withoutHeaders(call.headers, OF_PARTS).concat("accept-encoding", "identity");
    lines.start(sendTraced(exchange.trace, upstream, { ...call, headers }, lines));
  }
}

const OF_PARTS: ReadonlySet<string> = new Set(["range", "if-range", "accept-encoding"]);

function passedCall(exchange: Exchange, provider: Provider, path: string): UpstreamCall {
  return {
    method: exchange.upstreamMethod,
    path: provider.upstream.basePath + path,
    headers: passedHeaders(exchange, provider, path),
    body: exchange.body,
    ...(provider.isPicked && { exchange }),
  };
}
