import { MessageChannel, parentPort, receiveMessageOnPort } from "node:worker_threads";
import type { Handover, ThreadPorts } from "../../http/engine/handover/handover.ts";
import { bugText } from "../../process/bug-text.ts";
import { writeError } from "../../process/operator-errors.ts";
import type { PreparedChange } from "../../process/prepared-change.ts";
import { StartupError } from "../../process/startup-error.ts";
import { SECOND } from "../../process/units.ts";
import { threadAudit } from "../../telemetry/logs/thread-audit.ts";
import type { Gateway } from "../definition.ts";
import { openGateway, type RunningGateway, type WorkerThread } from "../gateway.ts";
import { EVERY_ADDRESS, logUncaughtErrors } from "../start.ts";
import type { MemorySize, WorkerOrder, WorkerReport, WorkerStart } from "./worker-messages.ts";

/** Loads the code of a thread. */
export interface ThreadCode extends Pick<Gateway, "lateErrorText"> {
  /** Loads a gateway. Throws what the code throws. */
  load(code: unknown): Promise<Gateway>;
  /** Receives notices of the main thread to all threads. */
  notified(notice: unknown): void;
}

/** Serves the ports of a gateway in one of several threads. */
export async function serveAsWorker(start: WorkerStart, code: ThreadCode): Promise<void> {
  logUncaughtErrors(code);
  for (const notice of start.notices) code.notified(notice);
  const thread = new ServingThread(start, code);
  // Registered before it serves, because an early message may be about another thread.
  parentPort?.on("message", (order: WorkerOrder) => thread.take(order));
  try {
    await thread.opening;
    report({ kind: "serving" });
  } catch (error) {
    if (error instanceof StartupError) report({ kind: "failed", message: error.message });
    else writeError(`bug: ${bugText(error)}`, { kind: "bug" });
    process.exit(1);
  }
}

/** This thread among the others. */
class ServingThread {
  readonly opening: Promise<RunningGateway>;
  readonly #code: ThreadCode;
  readonly #handover: ThreadHandover;
  readonly #audit = threadAudit((line) => report({ kind: "audit", line }));
  readonly #othersClosed: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Number of threads. */
  #count: number;
  #prepared: PreparedChange | undefined;

  constructor(start: WorkerStart, code: ThreadCode) {
    this.#code = code;
    this.#count = start.count;
    this.#handover = new ThreadHandover(start.index);
    for (const link of start.links) this.#handover.link(link);
    this.opening = this.#open(start);
  }

  take(order: WorkerOrder): void {
    switch (order.kind) {
      case "link":
        this.#handover.link(order.link);
        return;
      case "allClosed":
        // Last messages of other threads are received first.
        setImmediate(this.#othersClosed.resolve);
        return;
      case "end":
        this.#once((running) => running.close().then(() => process.exit(0)));
        return;
      case "count":
        this.#once((running) => {
          const { isReady } = running;
          report({
            kind: "counted",
            question: order.question,
            figures: running.metrics.figures(),
            isReady,
          });
        });
        return;
      case "prepare":
        this.#once(async (running) => {
          report({ kind: "prepared", problem: await this.#prepare(running, order) });
        });
        return;
      case "commit":
        this.#commit();
        return;
      case "abort":
        this.#prepared?.abort();
        this.#prepared = undefined;
        return;
      case "notify":
        this.#code.notified(order.notice);
    }
  }

  /** Runs work once the gateway is open. The opener reports why it cannot be opened. */
  #once(work: (running: RunningGateway) => unknown): void {
    void this.opening.then(work, () => {});
  }

  async #open(start: WorkerStart): Promise<RunningGateway> {
    const gateway = await this.#code.load(start.code);
    return openGateway(this.#asOne(gateway, start.count), {
      defaultAddress: EVERY_ADDRESS,
      build: start.build,
      worker: this.#asWorker(start),
    });
  }

  #asWorker({ index, buffers, hasRandomKey, speaks }: WorkerStart): WorkerThread {
    const count = () => this.#count;
    return {
      index,
      get count() {
        return count();
      },
      buffers,
      hasRandomKey,
      speaks,
      memory: (name, bytes) => askForMemory(name, { bytes }),
      persistedMemory: (name, keptKeys) => askForMemory(name, { keptKeys }),
      log: (lines) => report({ kind: "lines", lines }),
      handoverOf: (gateway) => this.#handover.of(gateway),
      allClosed: () => {
        report({ kind: "closed" });
        return this.#othersClosed.promise;
      },
    };
  }

  /**
   * Returns the gateway as one of so many threads serves it: together they keep the limit of connections, and one writes the
   * audit log.
   */
  #asOne(gateway: Gateway, count: number): Gateway {
    const { connections, audit } = gateway;
    const maxConnections = Math.floor(connections.maxConnections / count);
    const shared = { ...gateway, connections: { ...connections, maxConnections } };
    return audit === undefined ? shared : { ...shared, audit: this.#audit };
  }

  /** Prepares other code. Resolves with what prevents it, or with `undefined`. */
  async #prepare(
    running: RunningGateway,
    { code, build, count }: Extract<WorkerOrder, { kind: "prepare" }>,
  ): Promise<string | undefined> {
    try {
      const gateway = this.#asOne(await this.#code.load(code), count);
      const { commit, abort } = await running.prepare(gateway, build);
      this.#prepared = {
        commit: () => {
          this.#count = count;
          commit();
        },
        abort,
      };
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #commit(): void {
    try {
      this.#prepared?.commit();
      this.#prepared = undefined;
      report({ kind: "committed" });
    } catch (error) {
      // Its state is unknown now: the thread that replaces it serves the right code.
      writeError(`bug: ${bugText(error)}`, { kind: "bug" });
      process.exit(1);
    }
  }
}

function report(message: WorkerReport): void {
  parentPort?.postMessage(message);
}

/** Milliseconds to wait for the main thread, which serves no requests. */
const MAX_WAIT = 30 * SECOND;

/**
 * Requests memory from the main thread, which gives all threads the same, and blocks: values that need it are counted in it.
 */
function askForMemory(name: string, size: MemorySize): SharedArrayBuffer {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const report: WorkerReport = { kind: "memory", name, size, signal, port: port2 };
  parentPort?.postMessage(report, [port2]);
  Atomics.wait(signal, 0, 0, MAX_WAIT);
  const memory: unknown = receiveMessageOnPort(port1)?.message;
  port1.close();
  if (memory instanceof SharedArrayBuffer) return memory;
  throw new Error("no memory from the main thread within the time limit");
}

/**
 * Serves requests that need state of other threads, and theirs that need this thread's. Created for the first code with such
 * state.
 */
class ThreadHandover {
  readonly #thread: number;
  /** Unused ports to other threads, by their indexes. */
  readonly #links = new Map<number, ThreadPorts>();
  #handover: Handover | undefined;

  /** `thread`: index of this thread. */
  constructor(thread: number) {
    this.#thread = thread;
  }

  /** Returns `undefined` if neither this code nor previous code holds state. */
  of(gateway: Gateway): Handover | undefined {
    this.#handover ??= gateway.handover?.(this.#thread);
    if (this.#handover !== undefined) {
      for (const link of this.#links.values()) this.#handover.link(link);
      this.#links.clear();
    }
    return this.#handover;
  }

  /** Adds the ports to the thread of this index. */
  link(link: ThreadPorts): void {
    if (this.#handover !== undefined) {
      this.#handover.link(link);
      return;
    }
    const { index, requests } = link;
    this.#links.set(index, link);
    requests.once("close", () => {
      if (this.#links.get(index) === link) this.#links.delete(index);
    });
  }
}
