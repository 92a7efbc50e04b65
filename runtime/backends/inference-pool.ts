import { isBodySource } from "../http/body/body.ts";
import { ReplayBody } from "../http/body/replay-body.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../http/upstream/upstream.ts";
import { WrappedUpstream } from "../http/upstream/wrapped-upstream.ts";
import type { PodAddress } from "../net/service-endpoints.ts";
import { isAddress, readDestination } from "./dynamic/destination.ts";
import { Endpoints } from "./endpoints.ts";
import { RecentUpstreams } from "./recent-upstreams.ts";

/** The servers that an endpoint picker named, opened at first use. */
class NamedEndpoints {
  readonly #servers = new RecentUpstreams();
  readonly #open: (endpoint: PodAddress) => Upstream;

  constructor(open: (endpoint: PodAddress) => Upstream) {
    this.#open = open;
  }

  /** Returns the server at `ip:port`, IPv6 in brackets; `undefined` if the name is not an address with a port. */
  get(name: string): Upstream | undefined {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const destination = readDestination(name, 0);
    if ("fault" in destination || !isAddress(destination)) return undefined;
    return this.#servers.add(name, this.#open([destination.host, destination.port]));
  }
}

/** Model servers behind one name. */
export interface InferencePoolSettings extends UpstreamSettings {
  /** Whether requests go to the pool's name if the picker names no endpoint. */
  readonly passesOnFailure: boolean;
  /** Whether the picker knows the endpoints itself: it is sent none, and may name any address. */
  readonly takesAnyEndpoint?: true;
}

/** Metadata for a picker, as its protocol encodes it. */
export interface OfferedEndpoints {
  /** Endpoints to choose from; absent if the picker knows them itself. */
  readonly metadata?: {
    readonly "envoy.lb.subset_hint": {
      readonly "x-gateway-destination-endpoint-subset": readonly string[];
    };
  };
  /** Returns the endpoint that has responded. */
  readonly responseMetadata: () => {
    readonly "envoy.lb": { readonly "x-gateway-destination-endpoint-served": string };
  };
}

/** Header in which a picker names endpoints: `ip:port`, in order of preference (endpoint picker protocol). */
const DESTINATION_HEADER = "x-gateway-destination-endpoint";

/** Opens a pool. Nothing is looked up or connected before the first request. Throws StartupError on a malformed URL. */
export function openInferencePool(settings: InferencePoolSettings): InferencePool {
  return new InferencePool(settings);
}

/**
 * Returns the endpoints of the pool for a picker, and removes the client's own choice from the request. Returns `undefined` if
 * the pool has no endpoint, and the request was refused (503), or if its client has disconnected.
 */
export async function offerEndpoints(
  exchange: Exchange,
  pool: InferencePool,
): Promise<OfferedEndpoints | undefined> {
  exchange.removeRequestHeader(DESTINATION_HEADER);
  const responseMetadata: OfferedEndpoints["responseMetadata"] = () => ({
    "envoy.lb": { "x-gateway-destination-endpoint-served": exchange.record.upstream ?? "" },
  });
  if (pool.takesAnyEndpoint) return { responseMetadata };
  const endpoints = await pool.endpoints().catch((error: Error) => error);
  if (exchange.isOver) return undefined;
  if (endpoints instanceof Error) {
    refuseUnpicked(exchange, endpoints.message);
    return undefined;
  }
  return {
    responseMetadata,
    metadata: {
      "envoy.lb.subset_hint": { "x-gateway-destination-endpoint-subset": [...endpoints.keys()] },
    },
  };
}

/**
 * Returns the endpoint that the picker named, with its further ones as fallback. Only endpoints of the pool are accepted,
 * unless the picker alone knows them. Returns `undefined` if it named none, and the request was refused (503).
 */
export async function pickedEndpoint(
  exchange: Exchange,
  pool: InferencePool,
): Promise<Upstream | undefined> {
  const named = exchange.header(DESTINATION_HEADER)?.split(",") ?? [];
  const [first, ...others] = await pool.named(named);
  if (first === undefined) {
    if (pool.passesOnFailure) return pool.anyEndpoint;
    const chosen = named.length === 0 ? "nothing" : pool.unknownEndpoint;
    refuseUnpicked(exchange, `the endpoint picker named ${chosen}`);
    return undefined;
  }
  logFields(exchange.record).set("inferencepool.selected_endpoint", first.name);
  return others.length === 0 ? first : new FallbackUpstream([first, ...others], exchange);
}

function refuseUnpicked(exchange: Exchange, detail: string): void {
  logFields(exchange.record).set("error", detail);
  refuse(exchange, 503, "NoHealthyBackend", "no endpoint for this request");
}

class InferencePool {
  readonly passesOnFailure: boolean;
  readonly #endpoints: Endpoints<Upstream>;
  /** Endpoints by the picker's names; `undefined` if only the pool's own are accepted. */
  readonly #named: NamedEndpoints | undefined;

  constructor({ passesOnFailure, takesAnyEndpoint, ...server }: InferencePoolSettings) {
    this.passesOnFailure = passesOnFailure;
    this.#endpoints = new Endpoints(server, openEndpoint);
    if (takesAnyEndpoint) {
      this.#named = new NamedEndpoints((endpoint) =>
        openEndpoint({ countedAs: this.#endpoints.any.name, ...server, endpoint }),
      );
    }
  }

  get takesAnyEndpoint(): boolean {
    return this.#named !== undefined;
  }

  /** Name of the unknown endpoint that the picker chose, for the log. */
  get unknownEndpoint(): string {
    return this.takesAnyEndpoint ? "an address without a port" : "an endpoint outside of the pool";
  }

  /** Returns the endpoints with these names (`ip:port`). Rejects if the pool's name has no address. */
  async named(names: readonly string[]): Promise<readonly Upstream[]> {
    const own = this.#named ?? (await this.#endpoints.current());
    return names.flatMap((name) => own.get(name.trim()) ?? []);
  }

  /** Returns all endpoints by `ip:port`. Rejects if the name has no address. */
  endpoints(): Promise<ReadonlyMap<string, Upstream>> {
    return this.#endpoints.current();
  }

  /** The pool by its name: connections lead to any of its endpoints. */
  get anyEndpoint(): Upstream {
    return this.#endpoints.any;
  }
}

/** Opens an endpoint: identified by its address, with the client's Host. */
function openEndpoint({ endpoint, ...settings }: UpstreamSettings): Upstream {
  return openUpstream(
    endpoint === undefined ? settings : { keepsHost: true, ...settings, endpoint },
  );
}

export type { InferencePool };

/** Maximum bytes of a body that are kept for the next server, if the connection to the first one fails. */
const KEPT_BODY = 65_536;

/** Several servers for one request. The next one gets it if a connection cannot be opened. */
class FallbackUpstream extends WrappedUpstream {
  readonly #upstreams: readonly [Upstream, ...Upstream[]];
  readonly #exchange: Exchange;

  constructor(upstreams: readonly [Upstream, ...Upstream[]], exchange: Exchange) {
    super(upstreams[0]);
    this.#upstreams = upstreams;
    this.#exchange = exchange;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    return new FallbackRequest(this.#upstreams, call, handler, this.#exchange);
  }

  /** Does nothing: the pool closes its servers. */
  override close(): void {}
}

class FallbackRequest implements UpstreamRequest {
  readonly #upstreams: readonly Upstream[];
  readonly #call: UpstreamCall;
  readonly #handler: UpstreamHandler;
  readonly #exchange: Exchange;
  readonly #body: ReplayBody | undefined;
  #current: UpstreamRequest | undefined;
  #isOver = false;

  constructor(
    upstreams: readonly Upstream[],
    call: UpstreamCall,
    handler: UpstreamHandler,
    exchange: Exchange,
  ) {
    this.#upstreams = upstreams;
    this.#call = call;
    this.#handler = handler;
    this.#exchange = exchange;
    const { body } = call;
    if (isBodySource(body)) this.#body = new ReplayBody(body, KEPT_BODY, exchange.newBuffer());
    this.#send(0);
  }

  abort(reason?: AbortReason): void {
    this.#isOver = true;
    this.#current?.abort(reason);
  }

  resume(): void {
    this.#current?.resume();
  }

  #send(index: number): void {
    const upstream = this.#upstreams[index];
    if (upstream === undefined || this.#isOver) return;
    const { record } = this.#exchange;
    record.upstream = upstream.name;
    record.fields?.set("inferencepool.selected_endpoint", upstream.name);
    const isLast = index === this.#upstreams.length - 1;
    const body = this.#body === undefined ? this.#call.body : this.#body.read();
    if (isLast) this.#body?.keepNothing();
    const request = upstream.send(
      { ...this.#call, headers: [...this.#call.headers], body },
      {
        onHead: (status, headers) => {
          this.#body?.keepNothing();
          this.#handler.onHead(status, headers);
        },
        onData: (chunk) => this.#handler.onData(chunk),
        onEnd: (trailers) => this.#handler.onEnd(trailers),
        onError: (failure) => this.#failed(index, isLast, failure),
      },
    );
    this.#current = request;
  }

  #failed(index: number, isLast: boolean, failure: UpstreamFailure): void {
    const isUnsent = failure.kind === "connect" && failure.isForbidden !== true;
    if (isUnsent && !isLast && this.#body?.isReplayable !== false) this.#send(index + 1);
    else this.#handler.onError(failure);
  }
}
