import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../http/upstream/upstream.ts";
import { Endpoints } from "./endpoints.ts";
import { FallbackUpstream } from "./inference-pool/fallback-upstream.ts";

/** Model servers behind one name. */
export interface InferencePoolSettings extends UpstreamSettings {
  /** Requests for which the picker names no endpoint go to the pool's name. */
  readonly passesOnFailure: boolean;
}

/** What an endpoint picker may choose from, as its protocol has it. */
export interface OfferedEndpoints {
  readonly metadata: {
    readonly "envoy.lb.subset_hint": {
      readonly "x-gateway-destination-endpoint-subset": readonly string[];
    };
  };
}

/** The header by which a picker names endpoints: `ip:port`, the first choice first (endpoint picker protocol). */
const destinationHeader = "x-gateway-destination-endpoint";

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
  exchange.removeRequestHeader(destinationHeader);
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
 * pool's own are taken: a header chooses no other server. Undefined: it named none, and the request was refused (503).
 */
export async function pickedEndpoint(
  exchange: Exchange,
  pool: InferencePool,
): Promise<Upstream | undefined> {
  const named = exchange.header(destinationHeader)?.split(",") ?? [];
  const endpoints = await pool.endpoints();
  const [first, ...others] = named.flatMap((each) => endpoints.get(each.trim()) ?? []);
  if (first === undefined) {
    if (pool.passesOnFailure) return pool.anyEndpoint;
    const said = named.length === 0 ? "nothing" : "none of the pool's own endpoints";
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

  constructor({ passesOnFailure, ...server }: InferencePoolSettings) {
    this.passesOnFailure = passesOnFailure;
    this.#endpoints = new Endpoints(server, ({ endpoint, ...settings }) =>
      // Endpoints are known by their addresses, and asked by the name that the client used.
      openUpstream(endpoint === undefined ? settings : { keepsHost: true, ...settings, endpoint }),
    );
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

export type { InferencePool };
