import { mergedExposition } from "../../metrics/merged-exposition.ts";
import { Metrics } from "../../metrics/metrics.ts";
import { StartupError } from "../../process/startup-error.ts";
import { SECOND } from "../../process/units.ts";
import type { AuditLog } from "../../telemetry/logs/audit-log.ts";
import { LogWriter } from "../../telemetry/logs/log-writer.ts";
import { ProcessLog } from "../../telemetry/logs/process-log.ts";
import type { BuildInfo } from "../build-info.ts";
import type { Gateway } from "../definition.ts";
import { MAX_TIMER } from "../drain.ts";
import { checkStateDir, type ProcessSettings, processSettings } from "../environment.ts";
import {
  addressText,
  checkFree,
  type Endpoint,
  Listeners,
  type OpenPort,
  type PortPlace,
  portPlace,
} from "../listeners.ts";
import { LiveContext } from "../live-context.ts";
import { ProcessMetrics } from "../process-metrics.ts";
import { serviceEndpoints } from "../services.ts";
import { EVERY_ADDRESS } from "../start.ts";
import { SharedMemory } from "./shared-memory.ts";
import { ThreadSet, type ThreadSource } from "./thread-set.ts";
import { workerCount } from "./worker-count.ts";
import type { Preparation, WorkerHandle } from "./worker-thread.ts";

/** What is served, by all threads that serve. */
interface Served {
  readonly gateway: Gateway;
  readonly build: BuildInfo;
  readonly code: unknown;
  readonly settings: ProcessSettings;
  /** Of threads. */
  readonly count: number;
}

/** Milliseconds that a thread has to last so that its end is no reason to wait with the next one, which is as long. */
const RESTART_DELAY = SECOND;
/** Milliseconds that threads have beyond the drain's last deadline: the time for collectors, and some. */
const END_MARGIN = 5 * SECOND;

/**
 * The threads of a process that serve one gateway, as its main thread has them.
 *
 * Each loads what it serves for itself and opens every port with SO_REUSEPORT: the kernel gives each connection to one of
 * them, and from then on no thread waits for another one. The main thread serves no request: it has the signals, the readiness
 * and metrics pages, the standard output and the list of threads. It starts the first thread alone, so that what can't start
 * is said once.
 *
 * What they share, and how:
 * - memory for messages that are read whole: a cell for each thread in one SharedArrayBuffer, summed before bytes are taken;
 * - limits (`localRateLimit`): a table in a SharedArrayBuffer for each, under a lock that the main thread opens again, with an
 *   empty table, when the thread that holds it breaks down. Those that a restart must not reset the main thread writes down
 *   as well, and the table is then as it was written last;
 * - connections of a port: each thread may have its part of the most;
 * - the key of session ids: the main thread draws it, and each has it in its environment;
 * - log lines: each thread hands batches of whole lines to the main thread, the only writer; lines of the audit log at once;
 * - who has logged in (for that log): a table in a SharedArrayBuffer;
 * - metrics: asked of every thread when somebody reads them, and merged as their table says. What a thread that broke down
 *   had counted when somebody last read them is kept.
 * What they do not share is right in each alone: pools, verified tokens, documents of other servers, how servers do.
 * - what one of them holds for a client (MCP sessions): a request that needs it is handed over (Handover), over ports that
 *   lead from each to each. No thread ends before the others have closed their connections.
 *
 * Other code (`replace`) is served by all of them or by none: each loads it, reads its files and opens its ports, and only when
 * all that live have, each swaps it in, which can't fail. A thread that breaks down meanwhile decides nothing: the one that
 * comes in its place serves what was served last.
 *
 * A thread that ends unasked is started again, after a while if it lasted no longer than that; the others go on.
 */
export class ThreadGroup {
  readonly #memory: SharedMemory;
  readonly #threads: ThreadSet;
  readonly #metrics = new Metrics();
  readonly #process: ProcessMetrics;
  readonly #writer = new LogWriter(1);
  #served: Served;
  #log: ProcessLog;
  #audit: AuditLog | undefined;
  readonly #context: LiveContext;
  readonly #listeners: Listeners;
  /** The first thread serves. */
  #isOpen = false;
  #failure: string | undefined;
  #closing: Promise<void> | undefined;
  /** Threads start, and other code is swapped in, one after the other. */
  #turn: Promise<void> = Promise.resolve();

  /** Throws StartupError. */
  constructor(gateway: Gateway, source: ThreadSource) {
    const served = servedBy(gateway, source.build, source.code);
    checkStateDir(served.settings);
    this.#served = served;
    this.#log = this.#openLog(served.settings);
    this.#audit = gateway.audit?.open(this.#writer);
    this.#context = new LiveContext(served.settings, this.#metrics, (text) => this.#log.warn(text));
    this.#memory = new SharedMemory(this.#context);
    this.#memory.expect(gateway);
    this.#threads = new ThreadSet(
      source,
      served.settings.sessionKey.toString("hex"),
      this.#memory,
      {
        lines: (lines) => this.#writer.add(lines),
        audit: (line) => this.#audit?.add(line),
        ended: (thread, failure, isSurplus) => this.#ended(thread, failure, isSurplus),
      },
    );
    this.#listeners = new Listeners(this.#context);
    this.#process = new ProcessMetrics(this.#metrics, () => ({
      name: this.#served.gateway.name,
      thread: "main",
      build: this.#served.build,
      buffers: {
        limit: this.#served.settings.maxBufferedBytes,
        held: this.#memory.buffers.reduce((sum, bytes) => sum + bytes, 0),
      },
      droppedLogLines: this.#writer.dropped,
    }));
  }

  /** Serves. Rejects with StartupError when it can't, and then nothing of it is left. */
  async open(): Promise<void> {
    try {
      await this.#inTurn(() => this.#open());
    } catch (error) {
      // Nothing starts again.
      this.#closing = Promise.resolve();
      this.#threads.breakOff();
      void this.#listeners.closeNow();
      void this.#audit?.close();
      await this.#writer.close();
      throw error;
    }
  }

  /** Serves another definition from now on, as RunningGateway does; `code`: what the script makes it of. */
  replace(next: Gateway, build: BuildInfo, code: unknown): Promise<void> {
    return this.#inTurn(() => this.#replace(servedBy(next, build, code)));
  }

  /** Other code can't be served: the metrics say so. */
  changeRefused(): void {
    this.#process.reloaded(false);
    this.#audit?.action("configuration-refused", this.#served.build.configDigest);
  }

  /** Notifies the scripts of all threads of something. Those that start hear of it from the source. */
  notify(notice: unknown): void {
    for (const thread of this.#threads.list) thread.notify(notice);
  }

  /** How many threads serve. */
  get count(): number {
    return this.#served.count;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #open(): Promise<void> {
    const { gateway, count, build } = this.#served;
    // Another process could share a port with these threads, and nobody would notice.
    for (const port of gateway.ports) await checkFree(portPlace(port, EVERY_ADDRESS));
    const first = this.#start(0, true);
    await first.serving();
    if (!first.isServing) throw new StartupError(this.#failure ?? "a thread ended as it started");
    this.#isOpen = true;
    this.#audit?.action("started", build.configDigest);
    await this.#startBetween(1, count);
    const services = await this.#listeners.prepare(this.#services(this.#served));
    services.commit();
    this.#tellOpened(services.opened);
    this.#log.info(`${count} threads serve`);
  }

  async #replace(next: Served): Promise<void> {
    if (this.#closing !== undefined) throw new StartupError("the gateway is ending");
    const before = this.#served;
    for (const place of newPlaces(before.gateway, next.gateway)) await checkFree(place);
    // Somebody has to say whether it can be served.
    if (this.#threads.list.length === 0) await this.#start(0, false).serving();
    const threads = this.#threads.list.filter(({ index }) => index < next.count);
    const audit = next.gateway.audit?.open(this.#writer);
    const services = await this.#listeners.prepare(this.#services(next)).catch((error) => {
      void audit?.close();
      throw error;
    });
    const prepared = await Promise.all(
      threads.map((thread) => thread.prepare(next.code, next.build, next.count)),
    );
    const problem = problemIn(prepared);
    if (problem !== undefined || this.#closing !== undefined) {
      threads.forEach((thread, index) => {
        if (prepared[index] === "prepared") thread.abort();
      });
      services.abort();
      void audit?.close();
      throw new StartupError(problem ?? "the gateway is ending");
    }
    // From here on: a thread that starts serves it.
    this.#activate(next, audit);
    services.commit();
    this.#tellOpened(services.opened);
    for (const { host, port } of newPlaces(before.gateway, next.gateway))
      this.#log.info(`listening on ${addressText(host)}:${port}`);
    await Promise.all(threads.map((thread) => thread.commit()));
    await this.#startBetween(before.count, next.count);
    this.#threads.endFrom(next.count);
    if (next.count !== before.count) this.#log.info(`${next.count} threads serve`);
  }

  #activate(next: Served, audit: AuditLog | undefined): void {
    this.#served = next;
    this.#memory.expect(next.gateway);
    this.#log = this.#openLog(next.settings);
    void this.#audit?.close();
    this.#audit = audit;
    audit?.action("configured", next.build.configDigest);
    this.#process.reloaded(true);
  }

  #openLog({ logFormat, logLevels }: ProcessSettings): ProcessLog {
    return new ProcessLog(logFormat, logLevels, this.#writer);
  }

  #services({ gateway, settings }: Served): readonly Endpoint[] {
    const { connections, mesh } = gateway;
    return serviceEndpoints({
      addresses: settings.addresses,
      defaultAddress: EVERY_ADDRESS,
      connections,
      figures: () => this.#figures(),
      context: this.#context,
      isReady: () => this.#threads.isReady(mesh !== undefined),
    });
  }

  #tellOpened(opened: readonly OpenPort[]): void {
    for (const { endpoint, port } of opened)
      this.#log.info(`${endpoint.config} on ${addressText(endpoint.host)}:${port}`);
  }

  async #startBetween(first: number, end: number): Promise<void> {
    const indexes = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
    const missing = indexes.filter((index) => this.#isWanted(index));
    await Promise.all(missing.map((index) => this.#start(index, false).serving()));
  }

  #isWanted(index: number): boolean {
    return this.#closing === undefined && index < this.#served.count && this.#threads.isFree(index);
  }

  #start(index: number, speaks: boolean): WorkerHandle {
    const { count, build, code, gateway } = this.#served;
    // Code that comes later may hold something.
    const hasLinks = gateway.handover !== undefined || code !== undefined;
    return this.#threads.start({ index, count, build, code, speaks, hasLinks });
  }

  #ended(
    { index, startedAt }: WorkerHandle,
    failure: string | undefined,
    isSurplus: boolean,
  ): void {
    this.#failure = failure;
    if (this.#closing !== undefined || !this.#isOpen) return;
    if (!isSurplus)
      this.#log.warn(`a thread has ended${failure === undefined ? "" : `: ${failure}`}`);
    const lasted = performance.now() - startedAt;
    setTimeout(
      () => void this.#inTurn(() => this.#startAgain(index)),
      Math.max(0, RESTART_DELAY - lasted),
    );
  }

  async #startAgain(index: number): Promise<void> {
    if (!this.#isWanted(index)) return;
    const thread = this.#start(index, false);
    await thread.serving();
    if (thread.isServing) this.#log.info("another thread serves in its place");
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #figures(): Promise<string> {
    return mergedExposition([this.#metrics.figures(), ...(await this.#threads.figures())]);
  }

  async #close(): Promise<void> {
    this.#log.info("draining");
    this.#audit?.action("draining", this.#served.build.configDigest);
    this.#context.isDraining = true;
    const longest = this.#served.settings.drain.max + END_MARGIN;
    await this.#threads.endAll(Math.min(longest, MAX_TIMER));
    await this.#memory.flush();
    void this.#listeners.closeNow();
    this.#log.info("ended");
    this.#audit?.action("ended", this.#served.build.configDigest);
    await this.#audit?.close();
    await this.#writer.close();
  }
}

/** Throws StartupError. */
function servedBy(gateway: Gateway, build: BuildInfo, code: unknown): Served {
  const settings = processSettings(gateway, process.env);
  return {
    gateway,
    build,
    code,
    settings,
    count: workerCount(gateway, process.env.WORKER_THREADS),
  };
}

/** Why other code can't be served, of what threads say; undefined: one can, and no other one says that it can't. */
function problemIn(prepared: readonly Preparation[]): string | undefined {
  const [problem] = prepared.flatMap((each) => (typeof each === "object" ? [each.problem] : []));
  if (problem !== undefined || prepared.includes("prepared")) return problem;
  return "all threads have ended while they loaded it";
}

/** Where the next one is open, and the one before is not. */
function newPlaces(before: Gateway, next: Gateway): readonly PortPlace[] {
  const placesOf = ({ ports }: Gateway) => ports.map((port) => portPlace(port, EVERY_ADDRESS));
  const own = placesOf(before);
  return placesOf(next).filter(
    ({ host, port }) => !own.some((each) => each.host === host && each.port === port),
  );
}
