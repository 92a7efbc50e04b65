/** How spans call a server. */
export interface CalledServer {
  readonly address: string;
  /** Undefined: it is reached through a socket of the system. */
  readonly port: number | undefined;
}

/** Servers that are kept; beyond, they are gathered anew. */
const MAX_SERVERS = 1024;

/** The servers that a gateway calls, by their names as upstreams have them. */
export class CalledServers {
  readonly #servers = new Map<string, CalledServer>();

  /** `name`: `host:port`, or `unix:/run/agent.sock`. */
  of(name: string): CalledServer {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const server = serverOf(name);
    if (this.#servers.size === MAX_SERVERS) this.#servers.clear();
    this.#servers.set(name, server);
    return server;
  }
}

function serverOf(name: string): CalledServer {
  if (name.startsWith("unix:")) return { address: name.slice("unix:".length), port: undefined };
  const colon = name.lastIndexOf(":");
  return { address: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}
