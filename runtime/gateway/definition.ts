import type { Exchange, Handled } from "../http/exchange.ts";
import type { AccessLogSettings } from "../telemetry/logs/access-log.ts";
import type { LogLevels } from "../telemetry/logs/log-level.ts";
import type { LogWriter } from "../telemetry/logs/log-writer.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { TlsSettings } from "../tls/tls-settings.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import type { PreparedPort } from "./port-server.ts";

/** A compiled gateway: what generated `main.ts` exports and `startGateway` runs. */
export interface Gateway {
  readonly name: string;
  readonly binds: readonly Bind[];
  /** Ports whose bytes are passed on; absent: there are none. */
  readonly tcp?: readonly TcpPort[];
  readonly connections: ConnectionSettings;
  readonly accessLog: AccessLogSettings;
  /** How much is logged; absent: `info` of everything. */
  readonly logLevels?: LogLevels;
  readonly addresses: ServiceAddresses;
  readonly drain: DrainSettings;
}

/** One port and what answers on it. */
export interface Bind {
  /** The TCP port, 1..65535. */
  readonly port: number;
  /** Where the configuration says so, for the message when the port can't be opened. */
  readonly config: string;
  /** TLS for this port; one certificate per listener, chosen by SNI. Absent: plain HTTP. */
  readonly tls?: TlsSettings;
  /** True where requests choose their destination: a client may send the target in absolute form. Absent: false. */
  readonly isForwardProxy?: true;
  /** Routes and responses one request. */
  readonly handle: (exchange: Exchange) => Handled;
}

/** A port whose bytes are passed on. Made by runtime/tcp/port.ts, which no other gateway carries. */
export interface TcpPort {
  readonly port: number;
  /** Where the configuration says so. */
  readonly config: string;
  readonly prepare: (common: TcpCommon) => PreparedPort;
}

/** What the process gives to each of them. */
export interface TcpCommon {
  readonly connections: ConnectionSettings;
  /** Undefined: connections have no lines. */
  readonly logFormat: "text" | "json" | undefined;
  readonly writer: LogWriter;
  readonly metrics: Metrics;
  /** A port had all the connections that it may have. */
  readonly refused: () => void;
  /** A handler threw: a bug. */
  readonly failed: (error: unknown) => void;
  readonly warn: (message: string) => void;
}

/** Where the process answers about itself: `host:port`. */
export interface ServiceAddresses {
  /** Prometheus metrics, `/metrics`. */
  readonly stats: string;
  /** `/healthz/ready`. */
  readonly readiness: string;
}

/** Deadlines after SIGTERM, in milliseconds. */
export interface DrainSettings {
  /** Listeners stay open at least this long (load balancers still send). */
  readonly min: number;
  /** Streams get this long to end by themselves. */
  readonly max: number;
}
