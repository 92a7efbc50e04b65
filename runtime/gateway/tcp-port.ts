import type { ConnectionRules } from "../net/connected-client.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { PortServer, PreparedPort } from "../net/port-server.ts";
import type { ProxyProtocol } from "../net/proxy-protocol/proxy-protocol.ts";
import type { ConnectionHandler } from "../tcp/connection.ts";
import { type PortMode, TcpServer, type TcpServerHandlers } from "../tcp/server.ts";
import { Certificates } from "../tls/certificates.ts";
import type { TlsSettings } from "../tls/tls-settings.ts";
import { connectionHandlers } from "./connection-handlers.ts";
import type { PortDivision } from "./http-port.ts";
import { contextOfPort, type Port, type PortContext } from "./port.ts";

/** Settings of every TCP port. */
export interface TcpPortSettings {
  readonly port: number;
  /** IP address to listen on; all addresses if absent. */
  readonly address?: string;
  /** Place in the configuration, for the message if the port cannot be opened. */
  readonly config: string;
  /** Settings of its connections, except their number; those of the gateway if absent. */
  readonly connections?: ConnectionSettings;
  /** Rules for clients; all may connect if absent. */
  readonly connectionRules?: ConnectionRules;
  /** PROXY protocol of the port; if absent, clients connect directly. */
  readonly proxyProtocol?: ProxyProtocol;
  /** Fields that the access log omits; none if absent. */
  readonly withoutFields?: readonly string[];
  readonly handle: ConnectionHandler;
}

/** Creates a port that forwards bytes as received. */
export function tcpPort(settings: TcpPortSettings): Port {
  return portOf(settings, () => ({ kind: "plain" }));
}

/** Creates a port that forwards TLS, unread, to the backend of its server name. */
export function tlsPassthroughPort({
  handshakeTimeout,
  ...settings
}: TcpPortSettings & {
  /** Milliseconds in which a client must send its server name. */
  readonly handshakeTimeout: number;
}): Port {
  return portOf(settings, () => ({ kind: "passthrough", handshakeTimeout }));
}

/** Creates a port that terminates TLS and forwards its content. */
export function tlsTerminationPort({
  tls,
  division,
  ...settings
}: TcpPortSettings & {
  readonly tls: TlsSettings;
  /** Divides the connections of the port by server name; if absent, all use `tls`. */
  readonly division?: PortDivision;
}): Port {
  return portOf(settings, (context) => ({
    kind: "terminate",
    certificates: new Certificates(tls),
    division: division?.prepare(context, settings.connectionRules),
  }));
}

function portOf(settings: TcpPortSettings, readMode: (context: PortContext) => PortMode): Port {
  const { port, address, config, connectionRules, proxyProtocol, withoutFields, handle } = settings;
  return {
    port,
    address,
    config,
    prepare: (shared) => {
      const context = contextOfPort(shared, settings.connections);
      const { connections, refused, failedHandshake, warn, broken } = context;
      return prepared(readMode(context), {
        ...connectionHandlers({ handle, connectionRules, withoutFields }, context),
        proxyProtocol,
        broken,
        maxConnections: connections.maxConnections,
        refused,
        failedHandshake,
        warn,
      });
    },
  };
}

function prepared(mode: PortMode, handlers: TcpServerHandlers): PreparedPort {
  return {
    takeOver(server: PortServer): (() => void) | undefined {
      if (!(server instanceof TcpServer && server.canUse(mode))) return undefined;
      return () => server.setHandlers(handlers, mode);
    },
    create: (gateway) => new TcpServer(handlers, mode, gateway),
  };
}
