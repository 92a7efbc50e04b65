import { prepareHttp } from "../http/engine/prepare-http.ts";
import type { ServerHandlers } from "../http/engine/server-handlers.ts";
import { checkPort } from "../net/listen-on.ts";
import type { PortServer, PreparedPort } from "../net/port-server.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import { StartupError } from "../process/startup-error.ts";
import type { ServiceAddresses } from "./definition.ts";
import type { Port, PortContext } from "./port.ts";

/** An address to listen on, with the server for it. */
export interface Endpoint {
  /** `undefined` for all addresses. */
  readonly host: string | undefined;
  /** Port number; 0 for any free port. */
  readonly port: number;
  /** Place in the configuration or environment. */
  readonly config: string;
  /** Reads the files of the port. Throws an Error that says which is unusable. */
  readonly prepare: () => PreparedPort;
}

/** An open port. */
export interface OpenPort {
  readonly endpoint: Endpoint;
  /** The actual port. */
  readonly port: number;
  readonly server: PortServer;
}

/** A prepared change of endpoints. */
export interface PreparedListeners extends PreparedChange {
  /** Ports that were not open before. */
  readonly opened: readonly OpenPort[];
}

/** The open ports of a process. A change keeps the sockets of unchanged ports, with all their connections. */
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
   * Opens the new ones of these endpoints. The commit swaps the handlers of unchanged ports and closes the other ports
   * gracefully. Throws StartupError and changes nothing if a port cannot be opened.
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
        // The port has TLS instead of plain HTTP, the reverse, or another handshake: only threads can share it.
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

  /** Accepts no more connections; resolves when every connection has ended. */
  async close(): Promise<void> {
    await Promise.all(this.ports.map(({ server }) => server.close()));
  }

  /** Accepts no more connections and aborts the others. Resolves when all have ended. */
  async closeNow(): Promise<void> {
    const closed = this.close();
    this.closeAllConnections();
    await closed;
  }

  /** Aborts all connections. */
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

/** Throws StartupError if something already listens on a port that threads are to share. */
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

/** Identifies an endpoint. Endpoints of any free port differ by their place in the configuration. */
function endpointKey(endpoint: Endpoint): string {
  const place = `${endpoint.host ?? "*"}:${endpoint.port}`;
  return endpoint.port === 0 ? `${place} ${endpoint.config}` : place;
}

/** Returns the endpoint of a port. `defaultAddress`: address of ports that name none. */
export function portEndpoint(port: Port, defaultAddress: string, context: PortContext): Endpoint {
  return { ...portPlace(port, defaultAddress), prepare: () => port.prepare(context) };
}

/** Returns where a port listens. */
export function portPlace(
  { port, address, config }: Pick<Port, "port" | "address" | "config">,
  defaultAddress: string,
): PortPlace {
  return { host: hostOf(address ?? defaultAddress), port, config };
}

/** An address to listen on. */
export type PortPlace = Omit<Endpoint, "prepare">;

/** Returns the endpoint of a service address: `host:port`, `[v6]:port` or `:port`, which listens on `defaultAddress`. */
export function serviceEndpoint(
  address: string,
  defaultAddress: string,
  config: keyof ServiceAddresses,
  handlers: ServerHandlers,
): Endpoint {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]*)):(\d{1,5})$/.exec(address);
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    throw new StartupError(`the ${config} address must be HOST:PORT or off, not "${address}"`);
  }
  return {
    host: hostOf(parts[1] ?? (parts[2] || defaultAddress)),
    port,
    config: `${config} address`,
    prepare: () => prepareHttp(handlers, undefined),
  };
}

/** Returns `undefined` for all addresses: IPv6 and IPv4 on one socket, if the machine has both. */
function hostOf(address: string): string | undefined {
  return address === "" || address === "::" || address === "0.0.0.0" ? undefined : address;
}

/** Formats an address as in URLs with a port. */
export function addressText(host: string | undefined): string {
  if (host === undefined) return "0.0.0.0";
  return host.includes(":") ? `[${host}]` : host;
}
