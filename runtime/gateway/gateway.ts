import type { AcmeEnrollment } from "../acme/open-acme.ts";
import type { Handover } from "../http/engine/handover/handover.ts";
import type { OpenMesh } from "../mesh/open-mesh.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { Enrollment } from "../process/enrollment.ts";
import type { SharedThreads } from "../process/gateway-context.ts";
import { offerMetrics } from "../process/offered-values.ts";
import { offerLogFormat } from "../process/operator-errors.ts";
import { onWarning } from "../process/operator-warnings.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import { StartupError } from "../process/startup-error.ts";
import type { OpenIdentity } from "../spiffe/open-identity.ts";
import type { AdminRequest, AuditLog } from "../telemetry/logs/audit-log.ts";
import { isLevelEnabled } from "../telemetry/logs/log-level.ts";
import { LogWriter } from "../telemetry/logs/log-writer.ts";
import { ProcessLog } from "../telemetry/logs/process-log.ts";
import type { BuildInfo } from "./build-info.ts";
import type { Gateway } from "./definition.ts";
import { drain } from "./drain.ts";
import { checkStateDir, type ProcessSettings, processSettings } from "./environment.ts";
import { GatewayOutput, type RequestObserver } from "./gateway-output.ts";
import { addressText, type Endpoint, Listeners, type OpenPort, portEndpoint } from "./listeners.ts";
import { LiveContext } from "./live-context.ts";
import type { PortContext } from "./port.ts";
import { ProcessMetrics } from "./process-metrics.ts";
import { reportBug } from "./report-bug.ts";
import { serviceEndpoints } from "./services.ts";
import type { WorkerPlace } from "./workers/worker-place.ts";

/** A running gateway. */
export interface RunningGateway {
  /** Its ports in the order of the definition; the actual port where the definition has 0. */
  readonly ports: readonly number[];
  /**
   * Serves another definition from now on. Requests in flight end under the old one; sockets of unchanged ports and all their
   * connections stay open. Throws StartupError and changes nothing if that fails. A change must finish before the next one
   * starts.
   */
  replace(next: Gateway, build: BuildInfo): Promise<void>;
  /** Does everything of `replace` that can fail. */
  prepare(next: Gateway, build: BuildInfo): Promise<PreparedChange>;
  /** Counts a change of the configuration that cannot be served. */
  changeRefused(): void;
  /** Records a request from the admin page in the audit log. */
  adminRequest(request: AdminRequest): void;
  /** Records a login to the admin page, or a wrong key, in the audit log. */
  adminLogin(isRight: boolean, address: string): void;
  /** Log of the process. */
  readonly log: Pick<ProcessLog, "info" | "warn">;
  /** Whether the gateway can take requests: it does not wait for a certificate of a mesh, nor for its identity. */
  readonly isReady: boolean;
  readonly metrics: Metrics;
  /** Resolves when all log lines so far are written, so that later output follows them. */
  logged(): Promise<void>;
  /** Shuts the service down as SIGTERM does; resolves when it has ended. */
  close(): Promise<void>;
}

/** Addresses, build and observer of a gateway. */
export interface OpenSettings {
  /** Address of ports that name none. */
  readonly defaultAddress: string;
  readonly build: BuildInfo;
  readonly observer?: RequestObserver;
  /** The thread among several that serve the ports of the process; absent if there is only one. */
  readonly worker?: WorkerThread;
}

/** A thread that shares its ports and leaves output of the process to the main thread. */
export interface WorkerThread extends WorkerPlace, SharedThreads {
  /** Whether it logs the events that all threads share. */
  readonly speaks: boolean;
  /** Takes lines of the log, each ended by a line feed. */
  readonly log: (lines: string) => void;
  /** Returns the handover for requests that need state of another thread; `undefined` if no thread holds state. */
  readonly handoverOf: (gateway: Gateway) => Handover | undefined;
  /** Resolves when no thread has a connection left: until then, others may need this thread's state. */
  readonly allClosed: () => Promise<void>;
}

/** Opens everything in a definition. Throws StartupError if that fails. */
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

/**
 * Reads the environment and the files of all ports as at startup, and opens nothing. Throws one StartupError that names
 * everything that is unusable.
 */
export function checkGateway(gateway: Gateway, settings: OpenSettings): void {
  const own = processSettings(gateway, process.env);
  checkStateDir(own);
  new Running(gateway, own, settings).check();
}

/** File descriptor. */
const STDOUT = 1;

class Running implements RunningGateway {
  #definition: Gateway;
  #settings: ProcessSettings;
  readonly #defaultAddress: string;
  readonly #observer: RequestObserver | undefined;
  readonly #context: LiveContext;
  readonly #listeners: Listeners;
  /** The stats and readiness pages, which are served until the process ends. */
  readonly #pages: Listeners;
  readonly metrics = new Metrics();
  /** Created for the first definition with a mesh. */
  #mesh: Enrollment<OpenMesh> | undefined;
  /** Created for the first definition with an identity. */
  #identity: Enrollment<OpenIdentity> | undefined;
  /** Created for the first definition with certificates of an ACME server. */
  #acme: AcmeEnrollment | undefined;
  #build: BuildInfo;
  readonly #process = new ProcessMetrics(this.metrics, () => ({
    name: this.#definition.name,
    thread: String(this.#worker?.index ?? "main"),
    build: this.#build,
    buffers: this.#context.buffers,
    droppedLogLines: this.#output.writer.dropped,
  }));
  readonly #worker: WorkerThread | undefined;
  #speaks: boolean;
  readonly #output: GatewayOutput;
  #closing: Promise<void> | undefined;
  readonly #withdrawMetrics = offerMetrics(this.metrics);
  readonly #withdrawFormat = offerLogFormat(() => this.#settings.logFormat);
  readonly #forgetWarnings = onWarning((message) => this.log.warn(message));

  constructor(
    definition: Gateway,
    settings: ProcessSettings,
    { defaultAddress, build, observer, worker }: OpenSettings,
  ) {
    this.#worker = worker;
    this.#speaks = worker?.speaks !== false;
    this.#build = build;
    this.#definition = definition;
    this.#defaultAddress = defaultAddress;
    this.#observer = observer;
    this.#settings = settings;
    this.#context = new LiveContext(
      settings,
      this.metrics,
      (message) => this.log.warn(message),
      worker,
    );
    this.#listeners = new Listeners(this.#context);
    this.#pages = new Listeners(this.#context);
    this.#output = new GatewayOutput(definition, settings, {
      writer: new LogWriter(worker?.log ?? STDOUT),
      metrics: this.metrics,
      context: this.#context,
    });
  }

  get isReady(): boolean {
    return this.#mesh?.isReady !== false && this.#identity?.isReady !== false;
  }

  get ports(): readonly number[] {
    return this.#listeners.ports.map(({ port }) => port);
  }

  async open(): Promise<void> {
    if (this.#speaks) for (const warning of this.#settings.warnings) this.log.warn(warning);
    const { workerThreads = 1 } = this.#definition;
    if (workerThreads !== 1 && this.#worker === undefined)
      this.log.warn("config.workerThreads has no effect here: only one thread serves");
    (
      await this.#prepare(this.#definition, this.#build, this.#settings, this.#output.audit)
    ).commit();
    // Later changes are logged by the main thread.
    if (this.#worker !== undefined) this.#speaks = false;
    this.#output.audit?.action("started", this.#build.configDigest);
  }

  /** Reads the files of its ports. Throws one StartupError for all of them. */
  check(): void {
    this.#definition.store?.check(this.#context);
    this.#definition.acme?.check();
    const context = this.#portContext(this.#definition, this.#settings);
    const ports = this.#definition.ports.map((port) =>
      portEndpoint(port, this.#defaultAddress, context),
    );
    const problems = [...ports, ...this.#services(this.#settings, this.#definition)].flatMap(
      ({ config, prepare }) => {
        try {
          prepare();
          return [];
        } catch (error) {
          return [`${config}: ${error instanceof Error ? error.message : error}`];
        }
      },
    );
    if (problems.length > 0) throw new StartupError(problems.join("\nerror: "));
  }

  logged(): Promise<void> {
    return this.#output.writer.written();
  }

  async replace(next: Gateway, build: BuildInfo): Promise<void> {
    (await this.prepare(next, build)).commit();
  }

  async prepare(next: Gateway, build: BuildInfo): Promise<PreparedChange> {
    if (this.#closing !== undefined) throw new StartupError("the gateway is shutting down");
    const settings = processSettings(next, process.env);
    const audit = next.audit?.open(this.#output.writer);
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

  /** Does first everything that can fail, and returns what cannot. */
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
      const log = {
        info: (message: string) => this.log.info(message),
        warn: (message: string) => this.log.warn(message),
      };
      this.#mesh ??= definition.mesh?.enrollment(log, this.metrics);
      this.#identity ??= definition.identity?.enrollment(log, this.metrics);
      const mesh = this.#mesh?.prepare(definition.mesh);
      if (mesh !== undefined) undo.push(mesh.abort);
      const identity = this.#identity?.prepare(definition.identity);
      if (identity !== undefined) undo.push(identity.abort);
      const store = await definition.store?.prepare(this.#context);
      undo.push(() => store?.abort());
      const { sessionKeys, threads } = this.#context;
      this.#acme ??= definition.acme?.enrollment({
        log,
        sessionKeys,
        threads,
        metrics: this.metrics,
        audit: (change) => this.#output.audit?.certificate(change),
      });
      const acme = await this.#acme?.prepare(definition.acme, store?.store);
      undo.push(() => acme?.abort());
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
        store?.commit();
        listeners.commit();
        // Afterwards, because it notifies the listeners.
        identity?.commit();
        acme?.commit();
        pages.commit();
        const open = this.#listeners.ports.concat(this.#pages.ports);
        this.#context.ports = new Set(open.map(({ port }) => port));
        if (this.#speaks) this.#logOpened([...listeners.opened, ...pages.opened], ports);
        this.#definition = definition;
        this.#build = build;
        this.#settings = settings;
        this.#context.buffers.limit = settings.maxBufferedBytes;
        this.#output.use(definition, settings, audit);
      };
      return { commit, abort };
    } catch (error) {
      abort();
      throw error;
    }
  }

  changeRefused(): void {
    this.#process.reloaded(false);
    this.#output.audit?.action("configuration-refused", this.#build.configDigest);
  }

  adminRequest(request: AdminRequest): void {
    this.#output.audit?.adminRequest(request);
  }

  adminLogin(isRight: boolean, address: string): void {
    this.#output.audit?.adminLogin(isRight, address);
  }

  get log(): ProcessLog {
    return this.#output.log;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#worker === undefined) this.log.info("draining");
    this.#output.audit?.action("draining", this.#build.configDigest);
    await drain(this.#context, this.#listeners, this.#settings.drain, this.#worker?.allClosed);
    this.#mesh?.close();
    this.#identity?.close();
    this.#acme?.close();
    await this.#context.flush();
    await this.#context.store?.close();
    await this.#output.flush();
    await this.#pages.closeNow();
    if (this.#worker === undefined) this.log.info("ended");
    this.#output.audit?.action("ended", this.#build.configDigest);
    await this.#output.audit?.close();
    this.#forgetWarnings();
    this.#withdrawMetrics();
    this.#withdrawFormat();
    await this.#output.writer.close();
  }

  /** Logs the opened ports. `ports`: those of the gateway; others belong to the process itself. */
  #logOpened(opened: readonly OpenPort[], ports: readonly Endpoint[]): void {
    for (const { endpoint, port } of opened) {
      const address = `${addressText(endpoint.host)}:${port}`;
      const what = ports.includes(endpoint) ? "listening" : endpoint.config;
      this.log.info(`${what} on ${address}`);
    }
  }

  #portContext(definition: Gateway, { logFormat, logLevels }: ProcessSettings): PortContext {
    const { connections, name, tracing } = definition;
    const tracer = tracing?.open({ name, gateway: this.#context, pending: this.#output.exports });
    return {
      connections,
      metrics: this.metrics,
      writer: this.#output.writer,
      logFormat: isLevelEnabled(logLevels.request, "info") ? logFormat : undefined,
      ...this.#output.ofRequests(definition, tracer, this.#observer),
      auditConnection: (connection) => this.#output.audit?.connection(connection),
      refused: () => this.#output.refused(connections),
      denied: (rule, client) => this.#output.denied(rule, client),
      failedHandshake: (handshake) => this.#output.failedHandshake(handshake),
      failed: reportBug,
      warn: (message) => this.log.warn(message),
      handover: this.#worker?.handoverOf(definition),
      // The log uses these settings; the previous one may still be in use.
      broken: new ProcessLog(logFormat, logLevels, this.#output.writer).connections,
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
}
