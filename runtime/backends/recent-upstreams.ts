import type { Upstream } from "../http/upstream/upstream.ts";

/** Servers whose connections are kept; the one that was asked for longest ago makes room. */
const MAX = 1000;

/** Servers that requests choose, each with its own connections. */
export class RecentUpstreams {
  readonly #upstreams: Map<string, Upstream> = new Map();

  /** The one of this address; undefined: it has to be opened. */
  get(address: string): Upstream | undefined {
    const known = this.#upstreams.get(address);
    if (known === undefined) return undefined;
    // The last one in the map is the one that was used last.
    this.#upstreams.delete(address);
    this.#upstreams.set(address, known);
    return known;
  }

  /** Keeps one that was opened. */
  add(address: string, upstream: Upstream): Upstream {
    this.#upstreams.set(address, upstream);
    if (this.#upstreams.size > MAX) this.#closeOldest();
    return upstream;
  }

  #closeOldest(): void {
    const [oldest] = this.#upstreams;
    if (oldest === undefined) return;
    this.#upstreams.delete(oldest[0]);
    oldest[1].close();
  }
}
