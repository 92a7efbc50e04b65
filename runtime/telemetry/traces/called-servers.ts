/** A server as attributes of a span. */
export interface CalledServer {
  readonly address: string;
  /** `undefined` for a Unix domain socket. */
  readonly port: number | undefined;
}

/** Maximum number of cached servers; beyond it, the cache is cleared. */
const MAX_SERVERS = 1024;

/** The servers that a gateway calls, by their upstream names. */
export class CalledServers {
  readonly #servers = new Map<string, CalledServer>();

  /** Returns a server. `name`: `host:port`, or `unix:/run/agent.sock`. */
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
