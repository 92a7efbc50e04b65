import type { TcpPort } from "../gateway/definition.ts";
import type { PortServer, PreparedPort } from "../gateway/port-server.ts";
import { ConnectionLog } from "../telemetry/logs/connection-log.ts";
import { ConnectionMetrics } from "../telemetry/metrics/connection-metrics.ts";
import { Certificates } from "../tls/certificates.ts";
import type { TlsSettings } from "../tls/tls-settings.ts";
import type { ConnectionHandler } from "./connection.ts";
import { type PortMode, TcpServer, type TcpServerHandlers } from "./server.ts";

/** What every port of TCP has. */
export interface TcpPortSettings {
  readonly port: number;
  /** Where the configuration says so, for the message when the port can't be opened. */
  readonly config: string;
  /** Fields that the access log leaves out; absent: none. */
  readonly withoutFields?: readonly string[];
  readonly handle: ConnectionHandler;
}

/** A port whose bytes are passed on as they come. */
export function tcpPort(settings: TcpPortSettings): TcpPort {
  return portOf(settings, () => ({ kind: "plain" }));
}

/** A port whose TLS goes on to the backend that answers for the server name; nobody here can read it. */
export function tlsPassthroughPort({
  handshakeTimeout,
  ...settings
}: TcpPortSettings & {
  /** Milliseconds in which a client has to say whom it wants. */
  readonly handshakeTimeout: number;
}): TcpPort {
  return portOf(settings, () => ({ kind: "passthrough", handshakeTimeout }));
}

/** A port whose TLS ends here; what was in it is passed on. */
export function tlsTerminationPort({
  tls,
  ...settings
}: TcpPortSettings & { readonly tls: TlsSettings }): TcpPort {
  return portOf(settings, () => ({ kind: "terminate", certificates: new Certificates(tls) }));
}

function portOf(
  { port, config, withoutFields = [], handle }: TcpPortSettings,
  readMode: () => PortMode,
): TcpPort {
  return {
    port,
    config,
    prepare: ({ connections, logFormat, writer, metrics, refused, failed, warn }) => {
      const log = logFormat && new ConnectionLog(logFormat, writer, withoutFields);
      const counts = ConnectionMetrics.of(metrics);
      return prepared(readMode(), {
        handle,
        keepAlive: connections.keepAlive,
        maxConnections: connections.maxConnections,
        refused,
        ended: (connection, duration) => {
          counts.connection(connection.record, duration);
          log?.connection(connection, duration);
        },
        failed,
        warn,
      });
    },
  };
}

function prepared(mode: PortMode, handlers: TcpServerHandlers): PreparedPort {
  return {
    takeOver(server: PortServer): (() => void) | undefined {
      if (!(server instanceof TcpServer && server.canBe(mode))) return undefined;
      return () => server.become(handlers, mode);
    },
    make: (gateway) => new TcpServer(handlers, mode, gateway),
  };
}
