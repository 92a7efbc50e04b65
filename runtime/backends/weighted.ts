import type { Upstream } from "../http/upstream/upstream.ts";
import type { ServerChoice } from "./host.ts";

/** Upstreams that share the requests or connections of a route. */
export interface WeightedUpstreams<Server> {
  /** Each with the sum of the weights up to and including its own. */
  readonly upstreams: readonly { readonly upstream: Server; readonly end: number }[];
  readonly total: number;
}

/** Prepares the choice. Weights are above zero. */
export function weighUpstreams<Server>(
  upstreams: readonly { readonly weight: number; readonly upstream: Server }[],
): WeightedUpstreams<Server> {
  let total = 0;
  const ends = upstreams.map(({ weight, upstream }) => {
    total += weight;
    return { upstream, end: total };
  });
  return { upstreams: ends, total };
}

/** Whether a request falls into this part of a whole, at random. */
export function isOfShare(part: number, whole: number): boolean {
  return Math.random() * whole < part;
}

/** Chooses a server at random for each attempt of a request, in proportion to the weights. */
export function chooseWeighted(upstreams: WeightedUpstreams<Upstream>): ServerChoice {
  return new WeightedChoice(upstreams);
}

class WeightedChoice implements ServerChoice {
  readonly #all: WeightedUpstreams<Upstream>;
  /** Servers that were not tried. */
  #left: WeightedUpstreams<Upstream>;

  constructor(upstreams: WeightedUpstreams<Upstream>) {
    this.#all = upstreams;
    this.#left = upstreams;
  }

  get hasUntried(): boolean {
    return this.#left.upstreams.length > 0;
  }

  next(): Upstream {
    if (!this.hasUntried) return pickUpstream(this.#all);
    const upstream = pickUpstream(this.#left);
    this.#left = without(this.#left, upstream);
    return upstream;
  }
}

function without(
  { upstreams }: WeightedUpstreams<Upstream>,
  tried: Upstream,
): WeightedUpstreams<Upstream> {
  let before = 0;
  const weighed = upstreams.map(({ upstream, end }) => {
    const weight = end - before;
    before = end;
    return { upstream, weight };
  });
  return weighUpstreams(weighed.filter(({ upstream }) => upstream !== tried));
}

/** Chooses an upstream at random, in proportion to the weights (Gateway API HTTPBackendRef). */
export function pickUpstream<Server>({ upstreams, total }: WeightedUpstreams<Server>): Server {
  const at = Math.random() * total;
  const found = upstreams.find(({ end }) => at < end) ?? upstreams.at(-1);
  if (found === undefined) throw new Error("a route without upstreams");
  return found.upstream;
}
