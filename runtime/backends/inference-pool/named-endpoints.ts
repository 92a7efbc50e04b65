import type { Upstream } from "../../http/upstream/upstream.ts";
import type { PodAddress } from "../../net/service-endpoints.ts";
import { isAddress, readDestination } from "../dynamic/destination.ts";
import { RecentUpstreams } from "../recent-upstreams.ts";

/** The servers that an endpoint picker named, opened at first use. */
export class NamedEndpoints {
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
