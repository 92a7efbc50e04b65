import type { Upstream } from "../../http/upstream/upstream.ts";
import type { PodAddress } from "../../net/service-endpoints.ts";
import { isAddress, readDestination } from "../dynamic/destination.ts";
import { RecentUpstreams } from "../recent-upstreams.ts";

/** The servers that an endpoint picker named, each opened when it is named first. */
export class NamedEndpoints {
  readonly #servers = new RecentUpstreams();
  readonly #open: (endpoint: PodAddress) => Upstream;

  constructor(open: (endpoint: PodAddress) => Upstream) {
    this.#open = open;
  }

  /** The server at `ip:port`, IPv6 in brackets; undefined: this is no address with a port. */
  get(name: string): Upstream | undefined {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const destination = readDestination(name, 0);
    if ("fault" in destination || !isAddress(destination)) return undefined;
    return this.#servers.add(name, this.#open([destination.host, destination.port]));
  }
}
