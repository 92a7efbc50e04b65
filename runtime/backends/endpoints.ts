import { lookup } from "node:dns";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { readServerUrl } from "../http/upstream/node/server-url.ts";
import type { Upstream, UpstreamSettings } from "../http/upstream/upstream.ts";
import { socketHost } from "../net/connector.ts";
import { endpointName, type PodAddress, podsOf } from "../net/service-endpoints.ts";
import { SECOND } from "../process/units.ts";

/** How long resolved addresses of a name are cached, in milliseconds. */
const BELIEVED_FOR = 5 * SECOND;

/**
 * The servers that a name stands for, each with its own connections: the pods of a Service if a controller reports them,
 * otherwise the addresses in DNS. Nothing is looked up or connected before the first use.
 */
export class Endpoints<Server extends Upstream> {
  /** The name itself: connections lead to any of its servers. */
  readonly any: Server;
  /** Whether the name stands for a single server: an address, a socket, this machine, or a name that a proxy resolves. */
  readonly isOne: boolean;
  readonly #settings: UpstreamSettings;
  readonly #open: (settings: UpstreamSettings) => Server;
  readonly #host: string;
  readonly #port: number;
  /** Whether it is a Unix socket, which is a single server. */
  readonly #isSocket: boolean;
  #servers: ReadonlyMap<string, Server> = new Map();
  #pods: readonly PodAddress[] | undefined;
  #found: Promise<ReadonlyMap<string, Server>> | undefined;
  #believedUntil = 0;

  /** `open`: opens the connections to one server. Throws StartupError on a malformed URL. */
  constructor(settings: UpstreamSettings, open: (settings: UpstreamSettings) => Server) {
    const server = readServerUrl(settings.url);
    const { hostname = "", port = "", protocol } = server?.url ?? {};
    this.any = open(settings);
    this.#settings = settings;
    this.#open = open;
    this.#host = socketHost(hostname);
    this.#port = Number(port) || (protocol === "https:" ? 443 : 80);
    this.#isSocket = server?.socketPath !== undefined;
    const isHere = this.#isSocket || this.#host === "localhost" || isIP(this.#host) !== 0;
    this.isOne = isHere || settings.tunnel !== undefined;
  }

  /** Whether a controller reports all of them; DNS may return only some. */
  get areListed(): boolean {
    return podsOf(this.#host, this.#port) !== undefined;
  }

  /** Returns the current servers by `ip:port`. Rejects if the name has no address. */
  current(): Promise<ReadonlyMap<string, Server>> {
    const pods = podsOf(this.#host, this.#port);
    if (this.#found !== undefined) {
      const isKnown = this.#isSocket || (pods !== undefined && pods === this.#pods);
      const isBelieved = pods === undefined && performance.now() < this.#believedUntil;
      if (isKnown || isBelieved) return this.#found;
    }
    this.#pods = pods;
    this.#believedUntil = performance.now() + BELIEVED_FOR;
    const found = this.#find(pods);
    this.#found = found;
    found.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return found;
  }

  async #find(pods: readonly PodAddress[] | undefined): Promise<ReadonlyMap<string, Server>> {
    if (this.#isSocket) return new Map([[this.any.name, this.any]]);
    const addresses = pods ?? (await this.#lookUp());
    const before = this.#servers;
    const servers = new Map(
      addresses.map((endpoint): readonly [string, Server] => {
        const name = endpointName(endpoint);
        return [name, before.get(name) ?? this.#open({ ...this.#settings, endpoint })];
      }),
    );
    this.#servers = servers;
    // Closes the connections of removed servers.
    for (const [name, server] of before) if (!servers.has(name)) server.close();
    return servers;
  }

  async #lookUp(): Promise<readonly PodAddress[]> {
    const addresses = await promisify(lookup)(this.#host, { all: true });
    return addresses.map(({ address }): PodAddress => [address, this.#port]);
  }
}
