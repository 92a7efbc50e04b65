import type { ConnectionRules } from "../net/connected-client.ts";
import type { PortServer, PreparedPort } from "../net/port-server.ts";
import type { ProxyProtocol } from "../net/proxy-protocol/proxy-protocol.ts";
import type { ConnectionHandler } from "../tcp/connection.ts";
import { type PortMode, TcpServer, type TcpServerHandlers } from "../tcp/server.ts";
import { Certificates } from "../tls/certificates.ts";
import type { TlsSettings } from "../tls/tls-settings.ts";
import { connectionHandlers } from "./connection-handlers.ts";
import type { PortDivision } from "./http-port.ts";
import type { Port, PortContext } from "./port.ts";

/** What every port of TCP has. */
export interface TcpPortSettings {
  readonly port: number;
  /** The IP address that it is open on; absent: every one of the machine. */
  readonly address?: string;
  /** Where the configuration says so, for the message when the port can't be opened. */
  readonly config: string;
  /** Who may connect. Absent: everybody. */
  readonly connectionRules?: ConnectionRules;
  /** Proxies say for whom connections are made. Absent: connections are their clients' own. */
  readonly proxyProtocol?: ProxyProtocol;
  /** Fields that the access log leaves out; absent: none. */
  readonly withoutFields?: readonly string[];
  readonly handle: ConnectionHandler;
}

/** A port whose bytes are passed on as they come. */
export function tcpPort(settings: TcpPortSettings): Port {
  return portOf(settings, () => ({ kind: "plain" }));
}

/** A port whose TLS goes on to the backend that answers for the server name; nobody here can read it. */
export function tlsPassthroughPort({
  handshakeTimeout,
  ...settings
}: TcpPortSettings & {
  /** Milliseconds in which a client has to say whom it wants. */
  readonly handshakeTimeout: number;
}): Port {
  return portOf(settings, () => ({ kind: "passthrough", handshakeTimeout }));
}

/** A port whose TLS ends here; what was in it is passed on. */
export function tlsTerminationPort({
  tls,
  division,
  ...settings
}: TcpPortSettings & {
  readonly tls: TlsSettings;
  /** How the connections of the port are divided by server name. Absent: all of them end with `tls`. */
  readonly division?: PortDivision;
}): Port {
  return portOf(settings, (context) => ({
    kind: "terminate",
    certificates: new Certificates(tls),
    division: division?.prepare(context, settings.connectionRules),
  }));
}

function portOf(
  { port, address, config, connectionRules, proxyProtocol, withoutFields, handle }: TcpPortSettings,
  readMode: (context: PortContext) => PortMode,
): Port {
  return {
    port,
    address,
    config,
    prepare: (context) => {
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
