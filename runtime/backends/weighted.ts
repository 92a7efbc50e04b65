/** Upstreams that share the requests, or the connections, of a route. */
export interface WeightedUpstreams<Upstream> {
  /** Each with the sum of the weights up to and including its own. */
  readonly upstreams: readonly { readonly upstream: Upstream; readonly end: number }[];
  readonly total: number;
}

/** Prepares the choice. Weights are above zero. */
export function weighUpstreams<Upstream>(
  upstreams: readonly { readonly weight: number; readonly upstream: Upstream }[],
): WeightedUpstreams<Upstream> {
  let total = 0;
  const ends = upstreams.map(({ weight, upstream }) => {
    total += weight;
    return { upstream, end: total };
  });
  return { upstreams: ends, total };
}

/** Whether a request belongs to this part of a whole, by chance. */
export function isOfShare(part: number, whole: number): boolean {
  return Math.random() * whole < part;
}

/** An upstream by chance, in proportion to the weights (Gateway API HTTPBackendRef). */
export function pickUpstream<Upstream>({
  upstreams,
  total,
}: WeightedUpstreams<Upstream>): Upstream {
  const at = Math.random() * total;
  const found = upstreams.find(({ end }) => at < end) ?? upstreams.at(-1);
  if (found === undefined) throw new Error("a route without upstreams");
  return found.upstream;
}
