import { lookup } from "node:dns";
import { promisify } from "node:util";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../http/upstream/upstream.ts";
import { SECOND } from "../process/units.ts";
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

/** How long the addresses of a pool's name are believed, in milliseconds. */
const believedFor = 5 * SECOND;

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
      "envoy.lb.subset_hint": { "x-gateway-destination-endpoint-subset": [...endpoints] },
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
  const own = named.map((each) => each.trim()).filter((each) => endpoints.has(each));
  const [first, ...others] = own.map((each) => pool.upstream(each));
  if (first === undefined) {
    if (pool.settings.passesOnFailure) return pool.anyEndpoint;
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
  readonly settings: InferencePoolSettings;
  /** The pool by its name: whichever of its endpoints a connection leads to. */
  readonly anyEndpoint: Upstream;
  readonly #url: URL;
  readonly #upstreams = new Map<string, Upstream>();
  #endpoints: Promise<ReadonlySet<string>> | undefined;
  #believedUntil = 0;

  constructor(settings: InferencePoolSettings) {
    this.settings = settings;
    this.anyEndpoint = openUpstream(settings);
    this.#url = new URL(settings.url);
  }

  /** `ip:port` of all of them. Rejects when the name has no address. */
  endpoints(): Promise<ReadonlySet<string>> {
    if (this.#endpoints !== undefined && performance.now() < this.#believedUntil) {
      return this.#endpoints;
    }
    const found = this.#lookUp();
    this.#endpoints = found;
    this.#believedUntil = performance.now() + believedFor;
    found.catch(() => {
      if (this.#endpoints === found) this.#endpoints = undefined;
    });
    return found;
  }

  /** The connections to one of them. */
  upstream(endpoint: string): Upstream {
    const known = this.#upstreams.get(endpoint);
    if (known !== undefined) return known;
    const { hostname, protocol } = this.#url;
    const { passesOnFailure: _, ...settings } = this.settings;
    const opened = openUpstream({
      ...settings,
      url: `${protocol}//${endpoint}${this.anyEndpoint.basePath}`,
      // It is known by the pool's name.
      ...(protocol === "https:" && {
        tls: { verification: "full", serverName: hostname, ...settings.tls },
      }),
    });
    this.#upstreams.set(endpoint, opened);
    return opened;
  }

  async #lookUp(): Promise<ReadonlySet<string>> {
    const { hostname, port, protocol } = this.#url;
    const addresses = await promisify(lookup)(hostname.replace(/^\[|\]$/g, ""), { all: true });
    const at = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    const endpoints = addresses.map(({ address, family }) =>
      family === 6 ? `[${address}]:${at}` : `${address}:${at}`,
    );
    this.#forgetOthers(new Set(endpoints));
    return new Set(endpoints);
  }

  /** Endpoints that are gone keep no connections. */
  #forgetOthers(endpoints: ReadonlySet<string>): void {
    for (const [endpoint, upstream] of this.#upstreams) {
      if (endpoints.has(endpoint)) continue;
      this.#upstreams.delete(endpoint);
      upstream.close();
    }
  }
}

export type { InferencePool };
