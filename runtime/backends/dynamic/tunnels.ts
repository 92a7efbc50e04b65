import { type Exchange, logFields } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { ForbiddenDestination, type ServerConnection } from "../../net/connector.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type Destinations, refuseDestination } from "../dynamic.ts";
import { type Destination, type NoDestination, readDestination } from "./destination.ts";

/** Tunnels that clients open through a backend (CONNECT, RFC 9110 9.3.6). */
export interface TunnelSettings {
  /** Ports that tunnels may lead to. */
  readonly ports: readonly number[];
  /** Milliseconds without a byte in either direction after which a tunnel is closed. */
  readonly idleTimeout: number;
  /** Maximum number of open tunnels. */
  readonly max: number;
}

/** Opens a connection to a server. */
type OpenServer = (done: (error: Error | null, server: ServerConnection | null) => void) => void;

/** Open tunnels through a backend. */
export class Tunnels {
  readonly #destinations: Destinations;
  readonly #settings: TunnelSettings;
  #count = 0;

  constructor(destinations: Destinations, settings: TunnelSettings) {
    this.#destinations = destinations;
    this.#settings = settings;
  }

  /**
   * Connects a client to the host and port that it names, under the same rules as destinations of requests. Bytes flow both
   * ways until one side closes or both are silent.
   */
  open(exchange: Exchange): void {
    const authority = exchange.upstreamHost ?? exchange.host;
    const chosen = readDestination(authority.toLowerCase(), 443);
    if ("fault" in chosen) {
      refuseDestination(exchange, chosen);
      return;
    }
    if (!this.#settings.ports.includes(chosen.port)) {
      refuseDestination(exchange, { fault: "forbidden", why: `no tunnels to port ${chosen.port}` });
      return;
    }
    const connect = this.connector(chosen, exchange.gateway);
    if ("fault" in connect) {
      refuseDestination(exchange, connect);
      return;
    }
    if (this.#count >= this.#settings.max) {
      refuse(exchange, 503, "NoHealthyBackend", "too many tunnels");
      return;
    }
    exchange.record.upstream = authority;
    this.#count += 1;
    connect((error, server) => {
      if (server === null) this.#refused(exchange, error);
      else if (exchange.isOver) this.#drop(server);
      else this.#join(exchange, server);
    });
  }

  /** Returns the function that connects to a destination, or why it may not be reached. */
  protected connector(chosen: Destination, gateway: GatewayContext): OpenServer | NoDestination {
    return this.#destinations.connector(chosen, gateway);
  }

  #refused(exchange: Exchange, error: Error | null): void {
    this.#count -= 1;
    if (error instanceof ForbiddenDestination) {
      refuseDestination(exchange, { fault: "forbidden", why: error.message });
      return;
    }
    logFields(exchange.record).set("error", error?.message ?? "no connection");
    refuse(exchange, 503, "UpstreamFailure", "upstream is not reachable");
  }

  #drop(server: ServerConnection): void {
    this.#count -= 1;
    server.destroy();
  }

  #join(exchange: Exchange, server: ServerConnection): void {
    const { record, gateway } = exchange;
    const fields = logFields(record);
    const client = exchange.openTunnel();
    const counts = { "bytes.received": 0, "bytes.sent": 0 };
    const count = (direction: keyof typeof counts, bytes: Buffer) => {
      idle.refresh();
      counts[direction] += bytes.length;
      fields.set(direction, String(counts[direction]));
    };
    const idle = setTimeout(() => {
      record.reason = "Timeout";
      server.destroy();
      exchange.end();
    }, this.#settings.idleTimeout);
    const forgetDrain = gateway.onDrainDeadline(() => exchange.abort());
    exchange.onDrain(() => server.resume());
    server.on("drain", () => client.resume());
    server.on("data", (bytes: Buffer) => {
      count("bytes.sent", bytes);
      if (!exchange.write(bytes)) server.pause();
    });
    server.on("end", () => exchange.end());
    server.on("error", (error) => {
      record.reason = "UpstreamFailure";
      fields.set("error", error.message);
      exchange.abort();
    });
    server.on("close", () => {
      this.#count -= 1;
      clearTimeout(idle);
      forgetDrain();
      client.discard();
    });
    exchange.onAbort(() => server.destroy());
    client.flow({
      onData: (bytes) => {
        count("bytes.received", bytes);
        if (!server.write(bytes)) client.pause();
      },
      onEnd: () => server.end(),
      onAbort: () => server.destroy(),
    });
  }
}
