import { AwaitedBody } from "../http/body/awaited-body.ts";
import { isBodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import type {
  AbortReason,
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamTunnel,
} from "../http/upstream/upstream.ts";
import { WrappedUpstream } from "../http/upstream/wrapped-upstream.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { SECOND } from "../process/units.ts";
import { ActiveCheck } from "./active-check.ts";
import type { ServerChoice } from "./host.ts";
import { type HealthSettings, ServerHealth } from "./server-health.ts";

/** One of several upstreams, with its share of the requests. */
interface Watched {
  readonly weight: number;
  readonly upstream: WatchedUpstream;
}

/** Upstreams that share the requests of a route, except ejected ones. */
export type WatchedUpstreams = readonly Watched[];

/** Prepares the choice. Weights are above zero; an upstream without health settings is never ejected. */
export function watchUpstreams(
  upstreams: readonly {
    readonly weight: number;
    readonly upstream: Upstream;
    readonly health?: HealthSettings;
  }[],
): WatchedUpstreams {
  return upstreams.map(({ weight, upstream, health }) => ({
    weight,
    upstream: new WatchedUpstream(upstream, health),
  }));
}

/** Starts the health checks of the servers that have them. */
export function keepChecked(
  { gateway }: Exchange,
  upstreams: readonly { readonly upstream: WatchedUpstream }[],
): void {
  for (const { upstream } of upstreams) upstream.keepChecked(gateway);
}

/** Chooses a server at random for each attempt of a request, in proportion to the weights of those that are not ejected. */
export function chooseHealthy(upstreams: WatchedUpstreams): ServerChoice {
  return new HealthyChoice(upstreams);
}

class HealthyChoice implements ServerChoice {
  readonly #all: WatchedUpstreams;
  /** Servers that were not tried. */
  #left: WatchedUpstreams;

  constructor(upstreams: WatchedUpstreams) {
    this.#all = upstreams;
    this.#left = upstreams;
  }

  get hasUntried(): boolean {
    return this.#left.length > 0;
  }

  next(): Upstream {
    const found = pickHealthy(this.hasUntried ? this.#left : this.#all);
    this.#left = this.#left.filter(({ upstream }) => upstream !== found);
    return found;
  }
}

function pickHealthy(upstreams: WatchedUpstreams): Upstream {
  const asked = withoutEjected(upstreams);
  let left = Math.random() * asked.reduce((sum, { weight }) => sum + weight, 0);
  const found = asked.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  const { upstream } = found ?? asked.at(-1) ?? {};
  if (upstream === undefined) throw new Error("a route without upstreams");
  return upstream;
}

/**
 * Removes ejected servers. Returns all if none is left, because a gateway that sends nothing learns nothing, or if fewer than
 * the panic threshold are left, because those few would be overloaded.
 */
export function withoutEjected<Item extends { readonly upstream: WatchedUpstream }>(
  items: readonly Item[],
): readonly Item[] {
  const now = performance.now();
  const healthy = items.filter(({ upstream }) => !upstream.isEjected(now));
  if (healthy.length === items.length) return items;
  const least = items.length * Math.max(...items.map(({ upstream }) => upstream.panicThreshold));
  return healthy.length === 0 || healthy.length < least ? items : healthy;
}

/** An upstream whose failures are counted. */
export class WatchedUpstream extends WrappedUpstream {
  /** Share of all servers that get requests even if they are ejected. */
  readonly panicThreshold: number;
  readonly #health: ServerHealth | undefined;
  readonly #check: ActiveCheck | undefined;

  constructor(server: Upstream, settings: HealthSettings | undefined) {
    super(server);
    this.panicThreshold = settings?.panicThreshold ?? 0;
    this.#health = settings && new ServerHealth(settings);
    this.#check = settings?.active && new ActiveCheck(server, settings.active);
  }

  /** Starts the server's health checks, if it has them. */
  keepChecked(gateway: GatewayContext): void {
    this.#check?.start(gateway);
  }

  override close(): void {
    this.#check?.stop();
    super.close();
  }

  /** `now`: milliseconds of the monotonic clock. */
  isEjected(now: number): boolean {
    return this.#check?.isHealthy === false || this.#health?.isEjected(now) === true;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    if (this.#health === undefined) return this.server.send(call, handler);
    const body = isBodySource(call.body) ? new AwaitedBody(call.body) : undefined;
    const watched = new WatchedRequest(this.#health, handler, body);
    const sent = body === undefined ? call : { ...call, body };
    return watched.started(this.server.send(sent, watched));
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    if (this.#health === undefined) return this.server.upgrade(call, protocol, handler);
    const watched = new WatchedUpgrade(this.#health, handler);
    return watched.started(this.server.upgrade(call, protocol, watched));
  }
}

/** A request whose result counts for the health of its server. */
class WatchedRequest<Handler extends UpstreamHandler> implements UpstreamHandler, UpstreamRequest {
  protected readonly handler: Handler;
  readonly #health: ServerHealth;
  readonly #body: AwaitedBody | undefined;
  readonly #start = performance.now();
  #request: UpstreamRequest | undefined;
  #latency: number | undefined;
  #isNoted = false;
  /** Whether the client read the response more slowly than it arrived. */
  #wasHeldUp = false;

  /** `body`: body of the request if it comes from a client. */
  constructor(health: ServerHealth, handler: Handler, body?: AwaitedBody) {
    this.#health = health;
    this.handler = handler;
    this.#body = body;
  }

  started(request: UpstreamRequest): this {
    this.#request = request;
    return this;
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#latency = (performance.now() - this.#start) / SECOND;
    if (this.#health.isFailure(status, headers, isServerError)) this.#fail();
    this.handler.onHead(status, headers);
  }

  onData(chunk: Buffer): boolean {
    const goesOn = this.handler.onData(chunk);
    if (!goesOn) this.#wasHeldUp = true;
    return goesOn;
  }

  onEnd(trailers?: readonly string[]): void {
    this.#succeed();
    this.handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    const isOfClient = failure.kind !== "connect" && this.#waitsForClient;
    if (failure.isOfRequest !== true && !isOfClient) this.#fail();
    this.handler.onError(failure);
  }

  abort(reason?: AbortReason): void {
    if (reason === "timeout" && !this.#waitsForClient) this.#fail();
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }

  /** Whether the client determines the duration: a client must not be able to eject a healthy server. */
  get #waitsForClient(): boolean {
    return this.#wasHeldUp || this.#body?.isAwaited === true;
  }

  /** Records that the response is complete. */
  protected succeeded(): void {
    this.#latency ??= (performance.now() - this.#start) / SECOND;
    this.#succeed();
  }

  #succeed(): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#health.succeed(this.#latency ?? 0);
  }

  #fail(): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#health.fail(performance.now(), undefined);
  }
}

class WatchedUpgrade extends WatchedRequest<UpgradeHandler> implements UpgradeHandler {
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.succeeded();
    this.handler.onSwitch(headers, tunnel);
  }
}

function isServerError(status: number): boolean {
  return status >= 500;
}
