import type { ConnectionRules } from "../net/connected-client.ts";
import type { ConnectionHandler } from "../tcp/connection.ts";
import { ConnectionLog } from "../tcp/connection-log.ts";
import { ConnectionMetrics } from "../tcp/connection-metrics.ts";
import type { TcpConnectionHandlers } from "../tcp/tcp-connections.ts";
import type { PortContext } from "./port.ts";

/** Settings of all forwarded connections of a port. */
export interface ConnectionHandlerSettings {
  readonly handle: ConnectionHandler;
  /** Rules for clients; all may connect if absent. */
  readonly connectionRules?: ConnectionRules | undefined;
  /** Fields that the access log omits; none if absent. */
  readonly withoutFields?: readonly string[] | undefined;
}

/** Returns the handlers of forwarded connections, with their logs and metrics. */
export function connectionHandlers(
  { handle, connectionRules, withoutFields = [] }: ConnectionHandlerSettings,
  context: PortContext,
): TcpConnectionHandlers {
  const { connections, logFormat, writer, metrics, auditConnection, denied, failed } = context;
  const log = logFormat && new ConnectionLog(logFormat, writer, withoutFields);
  const counts = metrics.part(ConnectionMetrics);
  return {
    handle,
    connectionRules,
    denied,
    keepAlive: connections.keepAlive,
    ended: (connection, duration) => {
      counts.connection(connection.record, duration);
      log?.connection(connection, duration);
      auditConnection(connection);
    },
    failed: (error) => failed("a TCP connection", error),
  };
}
