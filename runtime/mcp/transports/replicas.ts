import { Endpoints } from "../../backends/endpoints.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";

/** One of the servers of a target, by its `ip:port`. */
export type Replica = readonly [endpoint: string, server: Upstream];

/** The servers that a target's name stands for: each knows the sessions that began at it, and no others. */
export class Replicas {
  readonly #endpoints: Endpoints<Upstream>;

  /** `open`: makes the connections to one of them. Throws StartupError on a malformed URL. */
  constructor(settings: UpstreamSettings, open: (settings: UpstreamSettings) => Upstream) {
    this.#endpoints = new Endpoints(settings, open);
  }

  /** The name itself, for what belongs to no session. */
  get any(): Upstream {
    return this.#endpoints.any;
  }

  /** Every request reaches the same server anyhow, as far as can be known here. */
  get isOne(): boolean {
    return this.#endpoints.isOne;
  }

  /**
   * Where a session may begin: one by chance, and behind it those to try when it can't be connected to. Empty: none is known
   * now.
   */
  async forNewSession(): Promise<readonly Replica[]> {
    const found = await this.#endpoints.current().catch(() => new Map<string, Upstream>());
    const replicas = [...found];
    // The system puts addresses of a kind that it has no way to last (RFC 6724).
    const isSixth = isOfVersion6(replicas[0]);
    const first = replicas.filter((each) => isOfVersion6(each) === isSixth);
    const chosen = first[Math.floor(Math.random() * first.length)];
    return chosen === undefined ? [] : [chosen, ...replicas.filter((each) => each !== chosen)];
  }

  /** Where a session goes on; undefined: its server has left. An Error: nobody can say now. */
  async ofSession(endpoint: string): Promise<Upstream | Error | undefined> {
    const found = await this.#endpoints.current().catch((error: Error) => error);
    if (found instanceof Error) return found;
    const server = found.get(endpoint);
    if (server !== undefined || this.#endpoints.areListed) return server;
    // Names with https are load balancers' as a rule: DNS shows some of their addresses, and each knows all sessions.
    return this.any.origin.startsWith("https:") ? this.any : undefined;
  }
}

function isOfVersion6(replica: Replica | undefined): boolean {
  return replica?.[0].startsWith("[") === true;
}
