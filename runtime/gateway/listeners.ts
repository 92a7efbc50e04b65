import { prepareHttp } from "../http/engine/prepare-http.ts";
import type { ServerHandlers } from "../http/engine/server-handlers.ts";
import { checkPort } from "../net/listen-on.ts";
import type { PortServer, PreparedPort } from "../net/port-server.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import { StartupError } from "../process/startup-error.ts";
import type { ServiceAddresses } from "./definition.ts";
import type { Port, PortContext } from "./port.ts";

/** An address to listen on, with what is served there. */
export interface Endpoint {
  /** Undefined: every address. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Where the configuration or the environment says so. */
  readonly config: string;
  /** Reads what the port needs; throws an Error that says what can't be read. */
  readonly prepare: () => PreparedPort;
}

/** A port that is open. */
export interface OpenPort {
  readonly endpoint: Endpoint;
  /** The real port. */
  readonly port: number;
  readonly server: PortServer;
}

/** Other endpoints. */
export interface PreparedListeners extends PreparedChange {
  /** Ports that were not open before. */
  readonly opened: readonly OpenPort[];
}

/** The ports of a process. A change keeps the sockets that stay, with all their connections. */
export class Listeners {
  readonly #context: GatewayContext;
  #open = new Map<string, OpenPort>();

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  get ports(): readonly OpenPort[] {
    return [...this.#open.values()];
  }

  /**
   * To serve exactly these endpoints opens what is new; once that is committed, the handlers of what stays are swapped, and the
   * rest is closed gracefully. Throws StartupError, with everything as it was, when a port can't be opened.
   */
  async prepare(endpoints: readonly Endpoint[]): Promise<PreparedListeners> {
    const wanted = endpoints.map((endpoint) => ({ endpoint, prepared: prepare(endpoint) }));
    const next = new Map<string, OpenPort>();
    const opened: OpenPort[] = [];
    const kept: (() => void)[] = [];
    const abort = () => {
      for (const { server } of opened) void server.close();
    };
    try {
      for (const { endpoint, prepared } of wanted) {
        const key = endpointKey(endpoint);
        const before = this.#open.get(key);
        const change = before && prepared.takeOver(before.server);
        if (before && change) {
          next.set(key, { ...before, endpoint });
          kept.push(change);
          continue;
        }
        // The same port with TLS instead of plain HTTP, the reverse, or another handshake: unless threads do, nobody shares it.
        if (this.#context.threads === undefined && this.#open.delete(key))
          void before?.server.close(true);
        const port = await open(endpoint, prepared, this.#context);
        opened.push(port);
        next.set(key, port);
      }
    } catch (error) {
      abort();
      throw error;
    }
    return {
      opened,
      abort,
      commit: () => {
        const previous = this.#open;
        this.#open = next;
        for (const change of kept) change();
        for (const [key, { server }] of previous)
          if (next.get(key)?.server !== server) void server.close();
      },
    };
  }

  /** Takes no more connections; resolves when every connection has ended. */
  async close(): Promise<void> {
    await Promise.all(this.ports.map(({ server }) => server.close()));
  }

  /** Takes no more connections and breaks off the others. Resolves when all have ended. */
  async closeNow(): Promise<void> {
    const closed = this.close();
    this.closeAllConnections();
    await closed;
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    for (const { server } of this.ports) server.closeAllConnections();
  }
}

function prepare(endpoint: Endpoint): PreparedPort {
  try {
    return endpoint.prepare();
  } catch (error) {
    throw new StartupError(`${endpoint.config}: ${error instanceof Error ? error.message : error}`);
  }
}

async function open(
  endpoint: Endpoint,
  prepared: PreparedPort,
  context: GatewayContext,
): Promise<OpenPort> {
  const server = prepared.create(context);
  try {
    return { endpoint, server, port: await server.listen(endpoint.port, endpoint.host) };
  } catch (error) {
    throw cannotListen(endpoint, error);
  }
}

/** Throws StartupError when somebody listens already where threads are to share a port. */
export async function checkFree(place: PortPlace): Promise<void> {
  try {
    await checkPort(place.port, place.host);
  } catch (error) {
    throw cannotListen(place, error);
  }
}

function cannotListen({ host, port, config }: PortPlace, error: unknown): StartupError {
  return new StartupError(
    `cannot listen on ${addressText(host)}:${port} (${config}): ${reason(error)}`,
  );
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return "the port is in use";
    case "EACCES":
      return "no permission for this port";
    case "EADDRNOTAVAIL":
      return "this machine has no such address";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** Endpoints of any free port differ by where they are configured. */
function endpointKey(endpoint: Endpoint): string {
  const place = `${endpoint.host ?? "*"}:${endpoint.port}`;
  return endpoint.port === 0 ? `${place} ${endpoint.config}` : place;
}

/** The endpoint of a port. `defaultAddress` is where ports are open that name no address. */
export function portEndpoint(port: Port, defaultAddress: string, context: PortContext): Endpoint {
  return { ...portPlace(port, defaultAddress), prepare: () => port.prepare(context) };
}

/** Where a port is open. */
export function portPlace({ port, address, config }: Port, defaultAddress: string): PortPlace {
  return { host: hostOf(address ?? defaultAddress), port, config };
}

/** An address to listen on. */
export type PortPlace = Omit<Endpoint, "prepare">;

/** The endpoint of a service address: `host:port`, `[v6]:port` or `:port`, which is open at `defaultAddress`. */
export function serviceEndpoint(
  address: string,
  defaultAddress: string,
  config: keyof ServiceAddresses,
  handlers: ServerHandlers,
): Endpoint {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]*)):(\d{1,5})$/.exec(address);
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    throw new StartupError(`the ${config} address must be HOST:PORT, not "${address}"`);
  }
  return {
    host: hostOf(parts[1] ?? (parts[2] || defaultAddress)),
    port,
    config: `${config} address`,
    prepare: () => prepareHttp(handlers, undefined),
  };
}

/** Undefined for every address: IPv6 and IPv4 on one socket, where the machine has both. */
function hostOf(address: string): string | undefined {
  return address === "" || address === "::" || address === "0.0.0.0" ? undefined : address;
}

/** An address as people and URLs write it beside a port. */
export function addressText(host: string | undefined): string {
  if (host === undefined) return "0.0.0.0";
  return host.includes(":") ? `[${host}]` : host;
}
