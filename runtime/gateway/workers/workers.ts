import { isMainThread, MessageChannel, workerData } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { KeptMemory } from "../../process/gateway-context.ts";
import { StartupError } from "../../process/startup-error.ts";
import { releaseLock } from "../../process/thread-lock.ts";
import { SECOND } from "../../process/units.ts";
import type { AuditLog } from "../../telemetry/logs/audit-log.ts";
import { LogWriter } from "../../telemetry/logs/log-writer.ts";
import { ProcessLog } from "../../telemetry/logs/process-log.ts";
import { type FamilyFigures, mergedExposition } from "../../telemetry/metrics/merged-exposition.ts";
import { Metrics } from "../../telemetry/metrics/metrics.ts";
import { bundleInfo } from "../build-info.ts";
import type { Gateway } from "../definition.ts";
import { longestTimer } from "../drain.ts";
import { type ProcessSettings, processSettings } from "../environment.ts";
import { addressText, checkFree, Listeners, portPlace } from "../listeners.ts";
import { LiveContext } from "../live-context.ts";
import { ProcessMetrics } from "../process-metrics.ts";
import { serviceEndpoints } from "../services.ts";
import { EVERY_ADDRESS, endOnSignal, logUncaughtErrors, startGateway } from "../start.ts";
import { serveAsWorker } from "./serve-as-worker.ts";
import { workerCount } from "./worker-count.ts";
import type { MemorySize, WorkerStart } from "./worker-messages.ts";
import { WorkerHandle } from "./worker-thread.ts";

/**
 * Runs a gateway as this process, with as many threads as it is to have. One thread is `startGateway`, and nothing else.
 *
 * Of several each loads the bundle (`script`, its URL) for itself and opens every port with SO_REUSEPORT: the kernel gives
 * each connection to one of them, and from then on no thread waits for another one. The main thread serves no request: it
 * has the signals, the readiness and metrics pages, the standard output and the list of threads. It starts the first
 * thread alone, so that what can't start is said once.
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
 * WORKER_THREADS can say another number than `workerThreads`, but not where the configuration has none: its code is another.
 *
 * A thread that ends unasked is started again, after a while if it lasted no longer than that; the others go on.
 */
export async function startWorkers(gateway: Gateway, script: string): Promise<void> {
  if (isStart(workerData)) return serveAsWorker(gateway, workerData);
  if (!isMainThread) return;
  try {
    const count = workerCount(gateway, process.env.WORKER_THREADS);
    if (count > 1) await new Workers(gateway, script, count).open();
    else {
      const { workerThreads: _, ...alone } = gateway;
      await startGateway(alone);
    }
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(1);
  }
}

function isStart(value: unknown): value is WorkerStart {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "gwc-worker"
  );
}

/** Milliseconds that a thread has to last so that its end is no reason to wait with the next one, which is as long. */
const restartDelay = SECOND;
/** Milliseconds that threads have beyond the drain's last deadline: the time for collectors, and some. */
const endMargin = 5 * SECOND;

/** A way between a thread that starts and another one. */
interface NewLink {
  /** For the one that starts. */
  readonly to: ThreadPorts;
  /** Gives its end to the other one. */
  readonly giveBack: () => void;
}

/** The threads of a process, seen from the main one. */
class Workers {
  readonly #gateway: Gateway;
  readonly #script: string;
  readonly #count: number;
  readonly #settings: ProcessSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #buffers: Float64Array;
  /** What threads share by name. */
  readonly #memory = new Map<string, SharedArrayBuffer>();
  /** What of it is written down, from the first one that asks on. */
  #kept: KeptMemory | undefined;
  readonly #threads = new Map<number, WorkerHandle>();
  readonly #metrics = new Metrics();
  readonly #writer = new LogWriter(1);
  readonly #log: ProcessLog;
  readonly #audit: AuditLog | undefined;
  readonly #context: LiveContext;
  readonly #listeners: Listeners;
  /** The figures of threads that have ended: what is counted never falls. */
  readonly #past: FamilyFigures[] = [];
  /** The first thread serves. */
  #isOpen = false;
  #failure: string | undefined;
  /** Called when the last thread has ended. */
  #onAllEnded: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(gateway: Gateway, script: string, count: number) {
    this.#gateway = gateway;
    this.#script = script;
    this.#count = count;
    this.#settings = processSettings(gateway, process.env);
    const { logFormat, logLevels, sessionKey, maxBufferedBytes: limit } = this.#settings;
    this.#env = { ...process.env, SESSION_KEY: sessionKey.toString("hex") };
    this.#buffers = new Float64Array(new SharedArrayBuffer(8 * count));
    this.#log = new ProcessLog(logFormat, logLevels, this.#writer);
    this.#audit = gateway.audit?.open(this.#writer);
    this.#context = new LiveContext(this.#settings, this.#metrics, (text) => this.#log.warn(text));
    this.#listeners = new Listeners(this.#context);
    new ProcessMetrics(this.#metrics, () => ({
      name: gateway.name,
      thread: "main",
      build: bundleInfo,
      buffers: { limit, held: this.#buffers.reduce((sum, bytes) => sum + bytes, 0) },
      droppedLogLines: this.#writer.dropped,
    }));
  }

  async open(): Promise<void> {
    logUncaughtErrors();
    // Another process could share a port with these threads, and nobody would notice.
    for (const port of this.#gateway.ports) await checkFree(portPlace(port, EVERY_ADDRESS));
    endOnSignal(this, ["SIGTERM", "SIGINT", "SIGHUP"]);
    const first = this.#start(0, true);
    await first.serving();
    if (!first.isServing) throw new StartupError(this.#failure ?? "a thread ended as it started");
    this.#isOpen = true;
    this.#audit?.action("started", bundleInfo.configDigest);
    const rest = Array.from({ length: this.#count - 1 }, (_, index) =>
      this.#start(index + 1, false),
    );
    await Promise.all(rest.map((thread) => thread.serving()));
    await this.#openServices();
    this.#log.info(`${this.#count} threads serve`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #openServices(): Promise<void> {
    const { addresses } = this.#settings;
    const { connections } = this.#gateway;
    const figures = () => this.#figures();
    const endpoints = serviceEndpoints({
      addresses,
      defaultAddress: EVERY_ADDRESS,
      connections,
      figures,
      context: this.#context,
    });
    for (const { endpoint, port } of await this.#listeners.serve(endpoints)) {
      this.#log.info(`${endpoint.config} on ${addressText(endpoint.host)}:${port}`);
    }
  }

  #start(index: number, speaks: boolean): WorkerHandle {
    const place = { index, count: this.#count, buffers: this.#buffers };
    const made = this.#linksTo(index);
    const links = made.map(({ to }) => to);
    const thread = new WorkerHandle(
      this.#script,
      { kind: "gwc-worker", ...place, speaks, links },
      this.#env,
      {
        lines: (lines) => this.#writer.add(lines),
        audit: (line) => this.#audit?.add(line),
        memory: (name, size) => this.#memoryOf(name, size),
        closed: () => this.#endTogether(),
        ended: (ended, failure) => this.#ended(ended, failure),
      },
    );
    this.#threads.set(index, thread);
    void thread.serving().then(() => {
      // Until it serves, nothing is handed over to it: what it holds is not there yet.
      if (thread.isServing) for (const { giveBack } of made) giveBack();
    });
    return thread;
  }

  /** A way from this one to each of the others, and back. */
  #linksTo(index: number): readonly NewLink[] {
    if (this.#gateway.handover === undefined) return [];
    return this.#list().map((other) => {
      const requests = new MessageChannel();
      const calls = new MessageChannel();
      const back = { index, requests: requests.port1, calls: calls.port1 };
      return {
        to: { index: other.index, requests: requests.port2, calls: calls.port2 },
        giveBack: () => other.link(back),
      };
    });
  }

  /** Those that have no connection any more wait for the last one: it may need what they hold. */
  #endTogether(): void {
    const threads = this.#list();
    if (threads.every(({ isClosed }) => isClosed)) for (const thread of threads) thread.allClosed();
  }

  #memoryOf(name: string, size: MemorySize): SharedArrayBuffer {
    if ("keptKeys" in size) return this.#keptMemory().memory(name, size.keptKeys);
    const memory = this.#memory.get(name) ?? new SharedArrayBuffer(size.bytes);
    this.#memory.set(name, memory);
    return memory;
  }

  #keptMemory(): KeptMemory {
    const kept = this.#kept ?? this.#gateway.keptMemory?.(this.#context);
    if (kept === undefined) throw new Error("a thread asks for memory that nobody writes down");
    this.#kept = kept;
    return kept;
  }

  #ended(thread: WorkerHandle, failure: string | undefined): void {
    const { index, startedAt } = thread;
    this.#threads.delete(index);
    this.#failure = failure;
    this.#buffers[index] = 0;
    for (const memory of this.#memory.values()) releaseLock(memory, index);
    this.#kept?.threadEnded(index);
    if (this.#threads.size === 0) this.#onAllEnded?.();
    this.#past.push(...thread.lastFigures.filter(({ kind }) => kind !== "gauge"));
    if (this.#closing !== undefined) this.#endTogether();
    if (this.#closing !== undefined || !this.#isOpen) return;
    this.#log.warn(`a thread has ended${failure === undefined ? "" : `: ${failure}`}`);
    const lasted = performance.now() - startedAt;
    setTimeout(() => this.#startAgain(index), Math.max(0, restartDelay - lasted));
  }

  async #startAgain(index: number): Promise<void> {
    if (this.#closing !== undefined) return;
    const thread = this.#start(index, false);
    await thread.serving();
    if (thread.isServing) this.#log.info("another thread serves in its place");
  }

  async #figures(): Promise<string> {
    const threads = await Promise.all(this.#list().map((thread) => thread.figures()));
    return mergedExposition([this.#metrics.figures(), ...threads, this.#past]);
  }

  #list(): readonly WorkerHandle[] {
    return [...this.#threads.values()];
  }

  async #close(): Promise<void> {
    this.#log.info("draining");
    this.#audit?.action("draining", bundleInfo.configDigest);
    this.#context.isDraining = true;
    const ended = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
    });
    for (const thread of this.#list()) thread.end();
    const longest = this.#settings.drain.max + endMargin;
    const breakOff = () => {
      for (const thread of this.#list()) void thread.terminate();
    };
    const timer = setTimeout(breakOff, Math.min(longest, longestTimer));
    if (this.#threads.size > 0) await ended;
    clearTimeout(timer);
    await this.#kept?.flush();
    this.#listeners.closeAllConnections();
    this.#log.info("ended");
    this.#audit?.action("ended", bundleInfo.configDigest);
    await this.#audit?.close();
    await this.#writer.close();
  }
}
