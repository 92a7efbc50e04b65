import type { AcmeOrders } from "../acme/open-acme.ts";
import type { Handover } from "../http/engine/handover/handover.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Mesh } from "../mesh/open-mesh.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { GatewayContext, PersistedMemory } from "../process/gateway-context.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import type { IdentitySource } from "../spiffe/open-identity.ts";
import type { Store } from "../store/store.ts";
import type { MetricLabels } from "../telemetry/labelled-metrics.ts";
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
  /** Labels of requests in metrics; absent without any. */
  readonly metricLabels?: MetricLabels;
  /** Formats an uncaught error of code that users wrote, `undefined` for others; absent without such code. */
  readonly lateErrorText?: (error: unknown) => string | undefined;
  /** Stream of refusals, logins and process events; absent without an audit log. */
  readonly audit?: AuditStream;
  /** Assigns ids to requests; if absent, they have none. */
  readonly requestId?: RequestIds;
  /** Which requests are traced, and where their spans are sent; none if absent. */
  readonly tracing?: Tracing;
  /** Captures bodies that expressions of the log or of traces read; absent if none does. */
  readonly captureBodies?: (exchange: Exchange) => void;
  /** Makes exchanges store their usage of models; absent if it is not stored. */
  readonly countUsage?: (exchange: Exchange) => void;
  /** The mesh of the gateway; none if absent. */
  readonly mesh?: Mesh;
  /** Source of the gateway's own identity; none if absent. */
  readonly identity?: IdentitySource;
  /** Certificates that it obtains from an ACME server; none if absent. */
  readonly acme?: AcmeOrders;
  /** Log levels; `info` for everything if absent. */
  readonly logLevels?: LogLevels;
  readonly addresses: ServiceAddresses;
  readonly drain: DrainSettings;
  /** Number of threads that serve its ports; one if absent. */
  readonly workerThreads?: WorkerThreads;
  /**
   * Creates the handover of a thread, by its index, for requests that need state of another thread; absent if no thread holds
   * state.
   */
  readonly handover?: (thread: number) => Handover;
  /** Creates the persisted counters that threads share; absent without such counters. */
  readonly persistedMemory?: (context: GatewayContext) => PersistedMemory;
  /** Store of keys that are made at run time and of shared limits; absent if nothing uses one. */
  readonly store?: ProcessStore;
  /** Whether callers get sealed ids that they may use after a restart; absent if not. */
  readonly givesIds?: boolean;
  /** Maximum number of threads among which a limit can be divided; absent if only the limit of connections is divided. */
  readonly maxThreads?: number;
  /** Maximum bytes of messages that are buffered whole; a quarter of the memory if absent. */
  readonly maxBufferedBytes?: number;
}

/** A store that a process opens when it starts, and keeps during reloads of a configuration with the same store. */
export interface ProcessStore {
  /** Throws a StartupError if the store cannot be used. */
  check(context: StoreContext): void;
  /** Opens the store unless it is open. Throws a StartupError if it cannot be used. */
  prepare(context: StoreContext): Promise<PreparedStore>;
}

/** A store that is opened, and used on commit. */
export interface PreparedStore extends PreparedChange {
  /** `undefined` if the gateway was started without one. */
  readonly store: Store | undefined;
}

/** The part of a process that a store needs, and its open store. */
export interface StoreContext
  extends Pick<GatewayContext, "stateDir" | "env" | "metrics" | "warn"> {
  store: Store | undefined;
  /** Identity of the open store in the configuration. */
  storeIdentity: string | undefined;
}

/** A number, or a percentage of the cores that the process may use, at least one. */
export type WorkerThreads = number | { readonly percent: number };

/** Addresses of the pages about the process: `host:port`, or `:port` for the default address of ports. */
export interface ServiceAddresses {
  /** Prometheus metrics, `/metrics`. */
  readonly stats: string;
  /** `/healthz/ready`. */
  readonly readiness: string;
}

/** Deadlines after SIGTERM, in milliseconds. */
export interface DrainSettings {
  /** Listeners stay open at least this long, because load balancers still send requests. */
  readonly min: number;
  /** Streams have this long to end by themselves. */
  readonly max: number;
}
