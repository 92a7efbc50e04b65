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
 * One port and what is served on it: HTTP (http-port.ts), or connections whose bytes are passed on (tcp-port.ts, which no
 * other gateway carries).
 */
export interface Port {
  /** The TCP port, 1..65535; 0: any free one. */
  readonly port: number;
  /** The IP address that it is open on; undefined: what the process chooses for all of its ports. */
  readonly address: string | undefined;
  /** Where the configuration says so, for the message when the port can't be opened. */
  readonly config: string;
  /** Reads the files that the port needs; throws an Error that says what can't be read. */
  readonly prepare: (context: PortContext) => PreparedPort;
}

/** What the process gives to each of its ports. */
export interface PortContext {
  readonly connections: ConnectionSettings;
  readonly metrics: Metrics;
  readonly writer: LogWriter;
  /** Undefined: TCP connections have no lines. */
  readonly logFormat: LogFormat | undefined;
  /** Called with each exchange before it is handled. */
  readonly exchangeBegan: (exchange: Exchange) => void;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is undefined when the client left
   * without a response.
   */
  readonly exchangeEnded: (
    exchange: Exchange,
    status: number | undefined,
    duration: number,
  ) => void;
  /** Called with each connection that has ended whose bytes were to be passed on. */
  readonly auditConnection: AuditLog["connection"];
  /** Called when a port has all the connections that it may have, and closed one more at once. */
  readonly refused: () => void;
  /** Called when a client was not allowed to connect, with the rule that forbids it; `client`: unless its connection is audited. */
  readonly denied: (rule: string, client?: DeniedClient) => void;
  /** A handshake of TLS has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  /** A handler threw: a bug. `where` says in what. */
  readonly failed: (where: string, error: unknown) => void;
  /** Something that the operator should know: a certificate that can't be used. */
  readonly warn: (message: string) => void;
  /** What other threads do for this one, and it for them; undefined: nothing. */
  readonly handover: Handover | undefined;
  /** Why a connection was broken off; undefined when the log leaves that out. */
  readonly broken: ((message: string) => void) | undefined;
}
