import { AddressRules } from "../backends/dynamic/address-rules.ts";
import { addressRefusal, checkedLookup } from "../backends/dynamic/checked-address.ts";
import { isAddress, readDestination } from "../backends/dynamic/destination.ts";
import { type ConnectedClient, connectedClient } from "../net/connected-client.ts";
import type { DestinationTls } from "../net/connector.ts";
import { type Connection, refuseConnection } from "./connection.ts";
import { pass } from "./proxy.ts";
import { openTls, type TcpUpstreamSettings, tcpUpstreamTo } from "./upstream.ts";

/** A backend whose host is the server name of each connection. */
export interface TcpDestinationSettings extends Omit<TcpUpstreamSettings, "address"> {
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
}

/** The destinations of one backend. */
export class TcpDestinations {
  readonly settings: TcpDestinationSettings;
  readonly rules: AddressRules;
  readonly tls: DestinationTls | undefined;

  /** Throws StartupError if a file is unusable. */
  constructor(settings: TcpDestinationSettings) {
    this.settings = settings;
    this.rules = new AddressRules(settings.allowPrivate);
    this.tls = openTls(settings);
  }
}

/** Forwards a connection to its server name, if that may be reached. */
export function passToNamed(connection: Connection, destinations: TcpDestinations): void {
  const { serverName = "" } = connection;
  // A server name has no port, so clients cannot choose one.
  passTo(connection, destinations, serverName.includes(":") ? "" : serverName);
}

/** Forwards a connection to the `host:port` that an expression computed, if that may be reached. */
export function passToComputed(
  connection: Connection,
  destinations: TcpDestinations,
  target: unknown,
): void {
  if (typeof target === "string") passTo(connection, destinations, target.toLowerCase());
  else refuseConnection(connection, "UpstreamFailure", "the target's expression has no value");
}

/** Returns the client of a connection for expressions, with the server name that it has sent. */
export function clientOfConnection({ socket, serverName }: Connection): ConnectedClient {
  return connectedClient(socket, serverName);
}

function passTo(connection: Connection, destinations: TcpDestinations, name: string): void {
  const { gateway } = connection;
  const { settings, rules, tls } = destinations;
  const destination = readDestination(name, settings.port);
  if ("fault" in destination) {
    const reason = destination.fault === "malformed" ? "BadRequest" : "ForbiddenDestination";
    refuseConnection(connection, reason, destination.why);
    return;
  }
  const { port } = destination;
  const check = { rules, gateway };
  const refusal = isAddress(destination)
    ? addressRefusal(destination.host, port, check)
    : undefined;
  if (refusal !== undefined) {
    refuseConnection(connection, "ForbiddenDestination", refusal);
    return;
  }
  // Clients choose the names, so metrics count them as one.
  const found = { lookup: checkedLookup(port, check), countedAs: "dynamic" };
  pass(connection, tcpUpstreamTo(destination, settings, tls, found));
}
