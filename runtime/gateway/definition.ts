import type { Handover } from "../http/engine/handover/handover.ts";
import type { Mesh } from "../mesh/mesh-membership.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { GatewayContext, PersistedMemory } from "../process/gateway-context.ts";
import type { AccessLogSettings } from "../telemetry/logs/access-log.ts";
import type { AuditStream } from "../telemetry/logs/audit-log.ts";
import type { LogLevels } from "../telemetry/logs/log-level.ts";
import type { RequestIds } from "../telemetry/request-id.ts";
import type { Tracing } from "../telemetry/traces/tracing.ts";
import type { Port } from "./port.ts";

/** A compiled gateway: what generated `main.ts` exports and `startGateway` runs. */
export interface Gateway {
  readonly name: string;
  readonly ports: readonly Port[];
  readonly connections: ConnectionSettings;
  readonly accessLog: AccessLogSettings;
  /** Where refusals, logins and what the process does are written; absent: nowhere of their own. */
  readonly audit?: AuditStream;
  /** Gives each request an id; absent: none has one. */
  readonly requestId?: RequestIds;
  /** Which requests are traced, and where their spans go; absent: none is. */
  readonly tracing?: Tracing;
  /** The mesh that it is a part of; absent: none. */
  readonly mesh?: Mesh;
  /** How much is logged; absent: `info` of everything. */
  readonly logLevels?: LogLevels;
  readonly addresses: ServiceAddresses;
  readonly drain: DrainSettings;
  /** How many threads serve its ports; absent: one. */
  readonly workerThreads?: WorkerThreads;
  /** How several threads serve requests that need what one of them holds, by the index of each; absent: none does. */
  readonly handover?: (thread: number) => Handover;
  /** What several threads count together and write down; absent: nothing. */
  readonly persistedMemory?: (context: GatewayContext) => PersistedMemory;
  /** More than so many could not divide a limit among them; absent: none is divided but that of connections. */
  readonly maxThreads?: number;
  /** Bytes of messages that are held at once because somebody reads them whole; absent: a quarter of the memory there is. */
  readonly maxBufferedBytes?: number;
}

/** So many, or a part of the cores that the process may use, at least one. */
export type WorkerThreads = number | { readonly percent: number };

/** Where the process serves its own state: `host:port`, or `:port` for where ports are open that name no address. */
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
