/** What is counted of each upstream, by its name; it is made when it is asked for first. */
export class UpstreamCounts<Counts> {
  readonly #create: (upstream: string) => Counts;
  readonly #upstreams = new Map<string, Counts>();

  constructor(create: (upstream: string) => Counts) {
    this.#create = create;
  }

  to(upstream: string): Counts {
    let counts = this.#upstreams.get(upstream);
    if (counts === undefined) {
      counts = this.#create(upstream);
      this.#upstreams.set(upstream, counts);
    }
    return counts;
  }

  /** Reads one value of each, labelled with its upstream. */
  reader(value: (counts: Counts) => number): () => (readonly [labels: [string], value: number])[] {
    return () => Array.from(this.#upstreams, ([name, counts]) => [[name], value(counts)] as const);
  }
}
