import type { Upstream } from "../http/upstream.ts";

/** Upstreams that share the requests of a route. */
export interface WeightedUpstreams {
  /** Each with the sum of the weights up to and including its own. */
  readonly upstreams: readonly { readonly upstream: Upstream; readonly end: number }[];
  readonly total: number;
}

/** Prepares the choice. Weights are above zero. */
export function weighUpstreams(
  upstreams: readonly { readonly weight: number; readonly upstream: Upstream }[],
): WeightedUpstreams {
  let total = 0;
  const ends = upstreams.map(({ weight, upstream }) => {
    total += weight;
    return { upstream, end: total };
  });
  return { upstreams: ends, total };
}

/** An upstream by chance, in proportion to the weights (Gateway API HTTPBackendRef). */
export function pickUpstream({ upstreams, total }: WeightedUpstreams): Upstream {
  const at = Math.random() * total;
  const found = upstreams.find(({ end }) => at < end) ?? upstreams.at(-1);
  if (found === undefined) throw new Error("a route without upstreams");
  return found.upstream;
}
