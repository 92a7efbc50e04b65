import { setTimeout } from "node:timers/promises";
import type { DeniedClient } from "../http/engine/server-handlers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Sample } from "../metrics/family.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { connectionsDenied, connectionsRefused } from "../metrics/table/requests.ts";
import { SECOND } from "../process/units.ts";
import type { LabelledMetrics } from "../telemetry/labelled-metrics.ts";
import { AccessLog } from "../telemetry/logs/access-log.ts";
import type { AuditLog } from "../telemetry/logs/audit-log.ts";
import { isLevelEnabled } from "../telemetry/logs/log-level.ts";
import type { LogWriter } from "../telemetry/logs/log-writer.ts";
import { ProcessLog } from "../telemetry/logs/process-log.ts";
import type { ExportQueue } from "../telemetry/otlp/export-queue.ts";
import { RequestMetrics } from "../telemetry/request-metrics.ts";
import type { Tracing } from "../telemetry/traces/tracing.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";
import type { Gateway } from "./definition.ts";
import type { ProcessSettings } from "./environment.ts";
import type { LiveContext } from "./live-context.ts";
import type { PortContext } from "./port.ts";

/** Observes every request, in addition to metrics and logs. */
export interface RequestObserver {
  began(exchange: Exchange): void;
  /** `status` is `undefined` if the client left without a response; `duration` is in milliseconds. */
  ended(exchange: Exchange, status: number | undefined, duration: number): void;
}

/** Milliseconds in which the remaining data is sent to collectors when the process ends. */
const FLUSH_TIME = 3 * SECOND;

/** The records of a gateway that a change of the configuration opens again: logs, labelled metrics and the audit log. */
export class GatewayOutput {
  readonly writer: LogWriter;
  readonly #metrics: Metrics;
  readonly #context: LiveContext;
  /** Queues of data for collectors. */
  readonly exports = new Set<ExportQueue>();
  log: ProcessLog;
  /** `undefined` without an audit log. */
  audit: AuditLog | undefined;
  readonly #requests: RequestMetrics;
  readonly #deniedConnections: Sample;
  readonly #refusedConnections: Sample;
  /** Times of the next warnings about closed connections, in milliseconds of the monotonic clock. */
  #nextDenial = 0;
  #nextRefusal = 0;
  /** `undefined` if the log level excludes requests. */
  #accessLog: AccessLog | undefined;
  /** `undefined` if the configuration has no labels of metrics. */
  #labelled: LabelledMetrics | undefined;

  constructor(
    definition: Gateway,
    settings: ProcessSettings,
    { writer, metrics, context }: OutputParts,
  ) {
    this.writer = writer;
    this.#metrics = metrics;
    this.#context = context;
    this.#requests = metrics.part(RequestMetrics);
    this.#deniedConnections = metrics.counter(connectionsDenied);
    this.#refusedConnections = metrics.counter(connectionsRefused);
    this.log = this.#openLog(settings);
    this.audit = definition.audit?.open(writer);
    context.auditGrants((change) => this.audit?.grant(change));
    this.#accessLog = this.#openAccessLog(definition, settings);
    this.#labelled = this.#openLabelled(definition);
  }

  /** Records from now on as another configuration says. `audit`: its audit log, which may be the current one. */
  use(definition: Gateway, settings: ProcessSettings, audit: AuditLog | undefined): void {
    if (this.audit !== audit) void this.audit?.close();
    this.audit = audit;
    this.#accessLog = this.#openAccessLog(definition, settings);
    this.#labelled = this.#openLabelled(definition);
    this.log = this.#openLog(settings);
  }

  /** Returns what a port calls at the begin and the end of each request. */
  ofRequests(
    { requestId, captureBodies, countUsage }: Gateway,
    tracer: ReturnType<Tracing["open"]> | undefined,
    observer: RequestObserver | undefined,
  ): Pick<PortContext, "exchangeBegan" | "exchangeEnded"> {
    return {
      exchangeBegan: (exchange) => {
        this.#requests.began();
        requestId?.(exchange);
        captureBodies?.(exchange);
        countUsage?.(exchange);
        tracer?.begin(exchange);
        observer?.began(exchange);
      },
      exchangeEnded: (exchange, status, duration) => {
        this.#requests.ended(exchange, status, duration);
        this.#labelled?.ended(exchange, status);
        this.#accessLog?.request(exchange, status, duration);
        this.audit?.request(exchange, status);
        exchange.trace?.end(status, duration);
        observer?.ended(exchange, status, duration);
      },
    };
  }

  /** Records that a rule or a policy closed a connection. */
  denied(rule: string, client: DeniedClient | undefined): void {
    this.#deniedConnections.value += 1;
    if (client !== undefined) this.audit?.client("Authorization", `not allowed by ${rule}`, client);
    this.#logDenied(` that is not allowed by ${rule}`);
  }

  /** Records that a client certificate was not accepted; other failures of TLS are counted elsewhere. */
  failedHandshake({ denial, ...client }: FailedHandshake): void {
    if (denial === undefined) return;
    this.audit?.client("ClientCertificate", denial, client);
    this.#logDenied(`: ${denial}`);
  }

  /** Warns at most once a minute, as for refused connections. */
  #logDenied(which: string): void {
    const now = performance.now();
    if (now < this.#nextDenial) return;
    this.#nextDenial = now + 60_000;
    this.log.info(`a connection is closed${which}`);
  }

  /** Records that a port refused a connection because it has too many. Warns at most once a minute. */
  refused({ maxConnections }: Gateway["connections"]): void {
    this.#refusedConnections.value += 1;
    const now = performance.now();
    if (now < this.#nextRefusal) return;
    this.#nextRefusal = now + 60_000;
    this.log.warn(`a port has ${maxConnections} connections: more are refused`);
  }

  /** Sends the remaining data to collectors until the deadline, at which it is lost. */
  async flush(): Promise<void> {
    const flushed = Promise.all(Array.from(this.exports, (queue) => queue.flush()));
    await Promise.race([flushed, setTimeout(FLUSH_TIME, undefined, { ref: false })]);
  }

  #openLog({ logFormat, logLevels }: ProcessSettings): ProcessLog {
    return new ProcessLog(logFormat, logLevels, this.writer);
  }

  #openAccessLog(
    { name, accessLog }: Gateway,
    { logFormat: format, logLevels }: ProcessSettings,
  ): AccessLog | undefined {
    if (!isLevelEnabled(logLevels.request, "info")) return undefined;
    const context = { name, gateway: this.#context, pending: this.exports };
    return new AccessLog({ ...accessLog, format }, this.writer, context);
  }

  /** Keeps the counts if the names of labels stay the same. */
  #openLabelled({ metricLabels }: Gateway): LabelledMetrics | undefined {
    if (metricLabels !== undefined && this.#labelled?.accept(metricLabels) === true)
      return this.#labelled;
    this.#labelled?.withdraw();
    return metricLabels?.open(this.#metrics);
  }
}

/** The parts of a gateway that its records are written to and read from. */
interface OutputParts {
  readonly writer: LogWriter;
  readonly metrics: Metrics;
  readonly context: LiveContext;
}
