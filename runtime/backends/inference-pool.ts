import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../http/upstream/upstream.ts";
import { Endpoints } from "./endpoints.ts";
import { FallbackUpstream } from "./inference-pool/fallback-upstream.ts";
import { NamedEndpoints } from "./inference-pool/named-endpoints.ts";

/** Model servers behind one name. */
export interface InferencePoolSettings extends UpstreamSettings {
  /** Requests for which the picker names no endpoint go to the pool's name. */
  readonly passesOnFailure: boolean;
  /** The picker knows the endpoints by itself: it is offered none, and any address that it names is one. */
  readonly takesAnyEndpoint?: true;
}

/** What an endpoint picker may choose from, as its protocol has it; nothing where it knows that by itself. */
export interface OfferedEndpoints {
  readonly metadata?: {
    readonly "envoy.lb.subset_hint": {
      readonly "x-gateway-destination-endpoint-subset": readonly string[];
    };
  };
}

/** The header by which a picker names endpoints: `ip:port`, the first choice first (endpoint picker protocol). */
const DESTINATION_HEADER = "x-gateway-destination-endpoint";

/** Opens a pool. Nothing is looked up or connected before the first request. Throws StartupError on a malformed URL. */
export function openInferencePool(settings: InferencePoolSettings): InferencePool {
  return new InferencePool(settings);
}

/**
 * The endpoints of the pool as a picker is offered them. A client's own choice is taken off the request. Undefined: the
 * pool has none, and the request was refused (503), or its client has left.
 */
export async function offerEndpoints(
  exchange: Exchange,
  pool: InferencePool,
): Promise<OfferedEndpoints | undefined> {
  exchange.removeRequestHeader(DESTINATION_HEADER);
  if (pool.takesAnyEndpoint) return {};
  const endpoints = await pool.endpoints().catch((error: Error) => error);
  if (exchange.isOver) return undefined;
  if (endpoints instanceof Error) {
    refuseUnpicked(exchange, endpoints.message);
    return undefined;
  }
  return {
    metadata: {
      "envoy.lb.subset_hint": { "x-gateway-destination-endpoint-subset": [...endpoints.keys()] },
    },
  };
}

/**
 * The endpoint that the picker named, with those that it named after it for when the first can't be reached. Only the
 * pool's own are taken, unless the picker alone knows those. Undefined: it named none, and the request was refused (503).
 */
export async function pickedEndpoint(
  exchange: Exchange,
  pool: InferencePool,
): Promise<Upstream | undefined> {
  const named = exchange.header(DESTINATION_HEADER)?.split(",") ?? [];
  const [first, ...others] = await pool.named(named);
  if (first === undefined) {
    if (pool.passesOnFailure) return pool.anyEndpoint;
    const said = named.length === 0 ? "nothing" : pool.unknownEndpoint;
    refuseUnpicked(exchange, `the endpoint picker named ${said}`);
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
  /** Those that the picker named; undefined: only the pool's own are asked. */
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

  /** What the picker named that is no endpoint, for the log. */
  get unknownEndpoint(): string {
    return this.takesAnyEndpoint ? "no address with a port" : "none of the pool's own endpoints";
  }

  /** The endpoints among the names, each `ip:port`. Rejects when the pool's name has no address. */
  async named(names: readonly string[]): Promise<readonly Upstream[]> {
    const own = this.#named ?? (await this.#endpoints.current());
    return names.flatMap((name) => own.get(name.trim()) ?? []);
  }

  /** All of them by `ip:port`. Rejects when the name has no address. */
  endpoints(): Promise<ReadonlyMap<string, Upstream>> {
    return this.#endpoints.current();
  }

  /** The pool by its name: whichever of its endpoints a connection leads to. */
  get anyEndpoint(): Upstream {
    return this.#endpoints.any;
  }
}

/** Endpoints are known by their addresses, and asked by the name that the client used. */
function openEndpoint({ endpoint, ...settings }: UpstreamSettings): Upstream {
  return openUpstream(
    endpoint === undefined ? settings : { keepsHost: true, ...settings, endpoint },
  );
}

export type { InferencePool };
