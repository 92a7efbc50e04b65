import type { Upstream } from "../http/upstream/upstream.ts";

/** Maximum number of servers with open connections; the least recently used one is closed first. */
const MAX = 1000;

/** Servers that requests choose, each with its own connections. */
export class RecentUpstreams {
  readonly #upstreams: Map<string, Upstream> = new Map();

  /** Returns the server of this address; `undefined` if it is not open. */
  get(address: string): Upstream | undefined {
    const known = this.#upstreams.get(address);
    if (known === undefined) return undefined;
    // Maps are ordered by insertion: the last entry is the most recently used.
    this.#upstreams.delete(address);
    this.#upstreams.set(address, known);
    return known;
  }

  /** Adds an opened server. */
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
