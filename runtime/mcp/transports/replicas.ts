import { Endpoints } from "../../backends/endpoints.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";

/** One of the servers of a target, by its `ip:port`. */
export type Replica = readonly [endpoint: string, server: Upstream];

/** The servers behind a target's name. Each knows only the sessions that it has opened. */
export class Replicas {
  readonly #endpoints: Endpoints<Upstream>;

  /** `open` creates the connections to one server. Throws StartupError on a malformed URL. */
  constructor(settings: UpstreamSettings, open: (settings: UpstreamSettings) => Upstream) {
    this.#endpoints = new Endpoints(settings, open);
  }

  /** The upstream of the name itself, for requests outside sessions. */
  get any(): Upstream {
    return this.#endpoints.any;
  }

  /** Whether every request reaches the same server, as far as the gateway can know. */
  get isOne(): boolean {
    return this.#endpoints.isOne;
  }

  /**
   * Returns the servers for a new session: a random one, followed by the ones to try if it cannot be reached. Empty if none
   * is known now.
   */
  async forNewSession(): Promise<readonly Replica[]> {
    const found = await this.#endpoints.current().catch(() => new Map<string, Upstream>());
    const replicas = [...found];
    // The system sorts addresses of a family that it has no route to last (RFC 6724).
    const isSixth = isOfVersion6(replicas[0]);
    const first = replicas.filter((each) => isOfVersion6(each) === isSixth);
    const chosen = first[Math.floor(Math.random() * first.length)];
    return chosen === undefined ? [] : [chosen, ...replicas.filter((each) => each !== chosen)];
  }

  /** Returns the server of a session; `undefined` if it is gone. An Error if that cannot be determined now. */
  async ofSession(endpoint: string): Promise<Upstream | Error | undefined> {
    const found = await this.#endpoints.current().catch((error: Error) => error);
    if (found instanceof Error) return found;
    const server = found.get(endpoint);
    if (server !== undefined || this.#endpoints.areListed) return server;
    // Names with https usually belong to load balancers: DNS shows some of their addresses, and each knows all sessions.
    return this.any.origin.startsWith("https:") ? this.any : undefined;
  }
}

function isOfVersion6(replica: Replica | undefined): boolean {
  return replica?.[0].startsWith("[") === true;
}
