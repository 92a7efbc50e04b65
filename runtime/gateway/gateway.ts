import { setTimeout } from "node:timers/promises";
import type { Handover } from "../http/engine/handover/handover.ts";
import type { DeniedClient } from "../http/engine/server-handlers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { MeshMembership } from "../mesh/mesh-membership.ts";
import { Metrics } from "../metrics/metrics.ts";
import { connectionsDenied, connectionsRefused } from "../metrics/table/requests.ts";
import type { SharedThreads } from "../process/gateway-context.ts";
import { offerMetrics } from "../process/offered-values.ts";
import { onWarning } from "../process/operator-warnings.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import { StartupError } from "../process/startup-error.ts";
import { SECOND } from "../process/units.ts";
import { AccessLog } from "../telemetry/logs/access-log.ts";
import type { AdminRequest, AuditLog } from "../telemetry/logs/audit-log.ts";
import { isLevelEnabled } from "../telemetry/logs/log-level.ts";
import { LogWriter } from "../telemetry/logs/log-writer.ts";
import { ProcessLog } from "../telemetry/logs/process-log.ts";
import type { ExportQueue } from "../telemetry/otlp/export-queue.ts";
import { RequestMetrics } from "../telemetry/request-metrics.ts";
import type { FailedHandshake } from "../tls/handshakes.ts";
import type { BuildInfo } from "./build-info.ts";
import type { Gateway } from "./definition.ts";
import { drain } from "./drain.ts";
import { checkStateDir, type ProcessSettings, processSettings } from "./environment.ts";
import { addressText, type Endpoint, Listeners, type OpenPort, portEndpoint } from "./listeners.ts";
import { LiveContext } from "./live-context.ts";
import type { PortContext } from "./port.ts";
import { ProcessMetrics } from "./process-metrics.ts";
import { reportBug } from "./report-bug.ts";
import { serviceEndpoints } from "./services.ts";
import type { WorkerPlace } from "./workers/worker-place.ts";

/** A gateway that serves. */
export interface RunningGateway {
  /** Its ports, in the order of the definition; real ones where the definition says 0. */
  readonly ports: readonly number[];
  /**
   * Serves another definition from now on: requests under way end under the old one, sockets of ports that stay and
   * all their connections are kept. Throws StartupError, with everything as it was, when it can't. One change has to be over
   * before the next one begins.
   */
  replace(next: Gateway, build: BuildInfo): Promise<void>;
  /** All of that which can fail. */
  prepare(next: Gateway, build: BuildInfo): Promise<PreparedChange>;
  /** A change of the configuration can't be served: the metrics say so. */
  changeRefused(): void;
  /** Somebody sent a request from the admin page: the audit log says so. */
  adminRequest(request: AdminRequest): void;
  /** Whether requests are wanted: it waits for no certificate of a mesh. */
  readonly isReady: boolean;
  readonly metrics: Metrics;
  /** Resolves when what was logged so far is written: whoever says more about the gateway says it after that. */
  logged(): Promise<void>;
  /** Ends the service as SIGTERM does, and resolves when it has ended. */
  close(): Promise<void>;
}

/** Is told of every request, beside metrics and logs. */
export interface RequestObserver {
  began(exchange: Exchange): void;
  /** `status` is undefined when the client left unanswered; `duration` is in milliseconds. */
  ended(exchange: Exchange, status: number | undefined, duration: number): void;
}

/** Where a gateway is open, what it was built of, and who watches it. */
export interface OpenSettings {
  /** The address of ports that name none. */
  readonly defaultAddress: string;
  readonly build: BuildInfo;
  readonly observer?: RequestObserver;
  /** One of several threads that serve the ports of the process: absent: the only one. */
  readonly worker?: WorkerThread;
}

/** A thread that shares its ports, and leaves what the process says of itself to another one. */
export interface WorkerThread extends WorkerPlace, SharedThreads {
  /** Whether it says what all of them do when they open. */
  readonly speaks: boolean;
  /** Takes lines of the log, each ended by a line feed. */
  readonly log: (lines: string) => void;
  /** How it serves requests that need what one thread holds; undefined: whichever they reach serves them. */
  readonly handoverOf: (gateway: Gateway) => Handover | undefined;
  /** Resolves when no thread has a connection any more: until then others may need what this one holds. */
  readonly allClosed: () => Promise<void>;
}

/** Opens everything a definition says. Throws StartupError when it can't. */
export async function openGateway(
  gateway: Gateway,
  settings: OpenSettings,
): Promise<RunningGateway> {
  const own = processSettings(gateway, process.env);
  if (settings.worker === undefined) checkStateDir(own);
  const running = new Running(gateway, own, settings);
  await running.open();
  return running;
}

/** Milliseconds that collectors have for what is left when the process ends. */
const FLUSH_TIME = 3 * SECOND;

/** A file descriptor. */
const STDOUT = 1;

class Running implements RunningGateway {
  #definition: Gateway;
  #settings: ProcessSettings;
  readonly #defaultAddress: string;
  readonly #observer: RequestObserver | undefined;
  readonly #context: LiveContext;
  readonly #listeners: Listeners;
  /** The stats and readiness pages. They respond until the process ends. */
  readonly #pages: Listeners;
  readonly metrics = new Metrics();
  /** From the first definition on that is a part of a mesh. */
  #mesh: MeshMembership | undefined;
  #build: BuildInfo;
  readonly #requests = this.metrics.part(RequestMetrics);
  readonly #deniedConnections = this.metrics.counter(connectionsDenied);
  readonly #refusedConnections = this.metrics.counter(connectionsRefused);
  readonly #process = new ProcessMetrics(this.metrics, () => ({
    name: this.#definition.name,
    thread: String(this.#worker?.index ?? "main"),
    build: this.#build,
    buffers: this.#context.buffers,
    droppedLogLines: this.#writer.dropped,
  }));
  readonly #worker: WorkerThread | undefined;
  #speaks: boolean;
  readonly #writer: LogWriter;
  /** What waits for collectors. */
  readonly #exports = new Set<ExportQueue>();
  /** Undefined when the level of requests leaves no lines. */
  #accessLog: AccessLog | undefined;
  #log: ProcessLog;
  /** Undefined: there is none. */
  #audit: AuditLog | undefined;
  #closing: Promise<void> | undefined;
  /** When refused connections are warned of again, in milliseconds of the monotonic clock. */
  #nextDenial = 0;
  #nextRefusal = 0;
  readonly #withdrawMetrics = offerMetrics(this.metrics);
  readonly #forgetWarnings = onWarning((message) => this.#log.warn(message));

  constructor(
    definition: Gateway,
    settings: ProcessSettings,
    { defaultAddress, build, observer, worker }: OpenSettings,
  ) {
    this.#worker = worker;
    this.#speaks = worker?.speaks !== false;
    this.#writer = new LogWriter(worker?.log ?? STDOUT);
    this.#build = build;
    this.#definition = definition;
    this.#defaultAddress = defaultAddress;
    this.#observer = observer;
    this.#settings = settings;
    this.#context = new LiveContext(
      settings,
      this.metrics,
      (message) => this.#log.warn(message),
      worker,
    );
    this.#listeners = new Listeners(this.#context);
    this.#pages = new Listeners(this.#context);
    this.#accessLog = this.#openAccessLog();
    this.#log = new ProcessLog(settings.logFormat, settings.logLevels, this.#writer);
    this.#audit = definition.audit?.open(this.#writer);
  }

  get isReady(): boolean {
    return this.#mesh?.isReady !== false;
  }

  get ports(): readonly number[] {
    return this.#listeners.ports.map(({ port }) => port);
  }

  async open(): Promise<void> {
    if (this.#speaks) for (const warning of this.#settings.warnings) this.#log.warn(warning);
    const { workerThreads = 1 } = this.#definition;
    if (workerThreads !== 1 && this.#worker === undefined)
      this.#log.warn("config.workerThreads has no effect here: one thread serves");
    (await this.#prepare(this.#definition, this.#build, this.#settings, this.#audit)).commit();
    // What threads do later is one change, which another one tells.
    if (this.#worker !== undefined) this.#speaks = false;
    this.#audit?.action("started", this.#build.configDigest);
  }

  logged(): Promise<void> {
    return this.#writer.written();
  }

  async replace(next: Gateway, build: BuildInfo): Promise<void> {
    (await this.prepare(next, build)).commit();
  }

  async prepare(next: Gateway, build: BuildInfo): Promise<PreparedChange> {
    if (this.#closing !== undefined) throw new StartupError("the gateway is ending");
    const settings = processSettings(next, process.env);
    const audit = next.audit?.open(this.#writer);
    const { abort, commit } = await this.#prepare(next, build, settings, audit);
    return {
      abort,
      commit: () => {
        commit();
        audit?.action("configured", build.configDigest);
        this.#context.reloaded();
        this.#process.reloaded(true);
      },
    };
  }

  /** What can fail of serving a definition, and then what can't. */
  async #prepare(
    definition: Gateway,
    build: BuildInfo,
    settings: ProcessSettings,
    audit: AuditLog | undefined,
  ): Promise<PreparedChange> {
    const undo: (() => unknown)[] = [() => audit?.close()];
    const abort = () => {
      for (const each of undo) each();
    };
    try {
      this.#mesh ??= definition.mesh?.membership(
        {
          info: (message) => this.#log.info(message),
          warn: (message) => this.#log.warn(message),
        },
        this.metrics,
      );
      const mesh = this.#mesh?.prepare(definition.mesh);
      if (mesh !== undefined) undo.push(mesh.abort);
      const context = this.#portContext(definition, settings);
      const ports = definition.ports.map((port) =>
        portEndpoint(port, this.#defaultAddress, context),
      );
      const listeners = await this.#listeners.prepare(ports);
      undo.push(listeners.abort);
      const pages = await this.#pages.prepare(this.#services(settings, definition));
      undo.push(pages.abort);
      const commit = () => {
        mesh?.commit();
        listeners.commit();
        pages.commit();
        const open = this.#listeners.ports.concat(this.#pages.ports);
        this.#context.ports = new Set(open.map(({ port }) => port));
        if (this.#speaks) this.#tellOpened([...listeners.opened, ...pages.opened], ports);
        this.#definition = definition;
        this.#build = build;
        if (this.#audit !== audit) void this.#audit?.close();
        this.#audit = audit;
        this.#settings = settings;
        this.#context.buffers.limit = settings.maxBufferedBytes;
        this.#accessLog = this.#openAccessLog();
        this.#log = new ProcessLog(settings.logFormat, settings.logLevels, this.#writer);
      };
      return { commit, abort };
    } catch (error) {
      abort();
      throw error;
    }
  }

  changeRefused(): void {
    this.#process.reloaded(false);
    this.#audit?.action("configuration-refused", this.#build.configDigest);
  }

  adminRequest(request: AdminRequest): void {
    this.#audit?.adminRequest(request);
  }

  #openAccessLog(): AccessLog | undefined {
    const { logFormat: format, logLevels } = this.#settings;
    if (!isLevelEnabled(logLevels.request, "info")) return undefined;
    const { name, accessLog } = this.#definition;
    const context = { name, gateway: this.#context, pending: this.#exports };
    return new AccessLog({ ...accessLog, format }, this.#writer, context);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#worker === undefined) this.#log.info("draining");
    this.#audit?.action("draining", this.#build.configDigest);
    await drain(this.#context, this.#listeners, this.#settings.drain, this.#worker?.allClosed);
    this.#mesh?.close();
    await this.#context.flush();
    await this.#flushExports();
    await this.#pages.closeNow();
    if (this.#worker === undefined) this.#log.info("ended");
    this.#audit?.action("ended", this.#build.configDigest);
    await this.#audit?.close();
    this.#forgetWarnings();
    this.#withdrawMetrics();
    await this.#writer.close();
  }

  /** What collectors have not got by then is lost: the process must end. */
  async #flushExports(): Promise<void> {
    const flushed = Promise.all(Array.from(this.#exports, (queue) => queue.flush()));
    await Promise.race([flushed, setTimeout(FLUSH_TIME, undefined, { ref: false })]);
  }

  /** `ports`: those of the gateway; others are the process's own. */
  #tellOpened(opened: readonly OpenPort[], ports: readonly Endpoint[]): void {
    for (const { endpoint, port } of opened) {
      const address = `${addressText(endpoint.host)}:${port}`;
      const what = ports.includes(endpoint) ? "listening" : endpoint.config;
      this.#log.info(`${what} on ${address}`);
    }
  }

  #portContext(definition: Gateway, { logFormat, logLevels }: ProcessSettings): PortContext {
    const { connections, name, requestId, tracing } = definition;
    const tracer = tracing?.open({ name, gateway: this.#context, pending: this.#exports });
    return {
      connections,
      metrics: this.metrics,
      writer: this.#writer,
      logFormat: isLevelEnabled(logLevels.request, "info") ? logFormat : undefined,
      exchangeBegan: (exchange) => {
        this.#requests.began();
        requestId?.(exchange);
        tracer?.begin(exchange);
        this.#observer?.began(exchange);
      },
      exchangeEnded: (exchange, status, duration) => this.#ended(exchange, status, duration),
      auditConnection: (connection) => this.#audit?.connection(connection),
      refused: () => this.#refused(connections),
      denied: (rule, client) => this.#denied(rule, client),
      failedHandshake: (handshake) => this.#failedHandshake(handshake),
      failed: reportBug,
      warn: (message) => this.#log.warn(message),
      handover: this.#worker?.handoverOf(definition),
      // The log of these settings; that of the ones before may still be in use.
      broken: new ProcessLog(logFormat, logLevels, this.#writer).connections,
    };
  }

  #services(
    { addresses }: ProcessSettings,
    { connections }: Pick<Gateway, "connections">,
  ): readonly Endpoint[] {
    if (this.#worker !== undefined) return [];
    const figures = () => this.metrics.exposition();
    return serviceEndpoints({
      addresses,
      defaultAddress: this.#defaultAddress,
      connections,
      figures,
      context: this.#context,
      isReady: () => this.isReady,
    });
  }

  #denied(rule: string, client: DeniedClient | undefined): void {
    this.#deniedConnections.value += 1;
    if (client !== undefined)
      this.#audit?.client("Authorization", `not allowed by ${rule}`, client);
    this.#tellDenied(` that is not allowed by ${rule}`);
  }

  #failedHandshake({ denial, ...client }: FailedHandshake): void {
    if (denial === undefined) return;
    this.#audit?.client("ClientCertificate", denial, client);
    this.#tellDenied(`: ${denial}`);
  }

  /** Told once a minute, as those are that are refused. */
  #tellDenied(which: string): void {
    const now = performance.now();
    if (now < this.#nextDenial) return;
    this.#nextDenial = now + 60_000;
    this.#log.info(`a connection is closed${which}`);
  }

  /** Warned of once a minute: a flood must not fill the log too. */
  #refused({ maxConnections }: Gateway["connections"]): void {
    this.#refusedConnections.value += 1;
    const now = performance.now();
    if (now < this.#nextRefusal) return;
    this.#nextRefusal = now + 60_000;
    this.#log.warn(`a port has ${maxConnections} connections: more are refused`);
  }

  #ended(exchange: Exchange, status: number | undefined, duration: number): void {
    this.#requests.ended(exchange, status, duration);
    this.#accessLog?.request(exchange, status, duration);
    this.#audit?.request(exchange, status);
    exchange.trace?.end(status, duration);
    this.#observer?.ended(exchange, status, duration);
  }
}
