import type { Handover } from "../http/engine/handover/handover.ts";
import type { DeniedClient } from "../http/engine/server-handlers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { PreparedPort } from "../net/port-server.ts";
import type { AuditLog } from "../telemetry/logs/audit-log.ts";
import type { LogFormat } from "../telemetry/logs/log-line.ts";
import type { LogWriter } from "../telemetry/logs/log-writer.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";

/**
 * A port and its protocol: HTTP (http-port.ts), or forwarded connections (tcp-port.ts, which only bundles with such ports
 * contain).
 */
export interface Port {
  /** TCP port, 1..65535; 0 for any free port. */
  readonly port: number;
  /** IP address to listen on; `undefined` for the default address of the process. */
  readonly address: string | undefined;
  /** Place in the configuration, for the message if the port cannot be opened. */
  readonly config: string;
  /** Reads the files of the port. Throws an Error that says which is unusable. */
  readonly prepare: (context: PortContext) => PreparedPort;
}

/** Services of the process for each of its ports. */
export interface PortContext {
  readonly connections: ConnectionSettings;
  readonly metrics: Metrics;
  readonly writer: LogWriter;
  /** `undefined` if TCP connections are not logged. */
  readonly logFormat: LogFormat | undefined;
  /** Called with each exchange before it is handled. */
  readonly exchangeBegan: (exchange: Exchange) => void;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is `undefined` if the client left without a
   * response.
   */
  readonly exchangeEnded: (
    exchange: Exchange,
    status: number | undefined,
    duration: number,
  ) => void;
  /** Called with each ended connection that was to be forwarded. */
  readonly auditConnection: AuditLog["connection"];
  /** Called when a port has its maximum of connections and closed a further one. */
  readonly refused: () => void;
  /** Called when a rule forbids a client to connect; `client` is absent if its connection is audited. */
  readonly denied: (rule: string, client?: DeniedClient) => void;
  /** A handshake of TLS has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  /** A handler threw, which is a bug. `where`: the handler. */
  readonly failed: (where: string, error: unknown) => void;
  /** Warns the operator, for example of an unusable certificate. */
  readonly warn: (message: string) => void;
  /** Work that threads do for each other; `undefined` with a single thread. */
  readonly handover: Handover | undefined;
  /** Receives why a connection was aborted; `undefined` if the log does not want it. */
  readonly broken: ((message: string) => void) | undefined;
}

/** Returns the services for a port with settings of its own for connections; their number is limited for all ports alike. */
export function contextOfPort(
  context: PortContext,
  own: ConnectionSettings | undefined,
): PortContext {
  if (own === undefined) return context;
  const { maxConnections } = context.connections;
  return { ...context, connections: { ...own, maxConnections } };
}
