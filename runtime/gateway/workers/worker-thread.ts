import { type MessagePort, Worker } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { FamilyFigures } from "../../metrics/merged-exposition.ts";
import { bugText } from "../../process/bug-text.ts";
import { heapLimits } from "../../process/heap-limits.ts";
import { writeError } from "../../process/operator-errors.ts";
import type { BuildInfo } from "../build-info.ts";
import type {
  MemorySize,
  ThreadState,
  WorkerOrder,
  WorkerReport,
  WorkerStart,
} from "./worker-messages.ts";

/** Receives events of a thread. */
export interface ThreadOwner {
  lines(lines: string): void;
  audit(line: string): void;
  memory(name: string, size: MemorySize): SharedArrayBuffer;
  /** It ends and has no connection left. */
  closed(thread: WorkerHandle): void;
  /** It has ended, for whatever reason. `failure`: why it could not start. */
  ended(thread: WorkerHandle, failure: string | undefined): void;
}

/** Result of preparing other code: it can be committed, there is a problem, or the thread has ended. */
export type Preparation = "prepared" | "ended" | { readonly problem: string };

/**
 * Megabytes of young objects of a thread: three times what one collection can make old. Node stops a thread that passes its
 * limit by up to 16 MB, and V8 ends the process if one collection passes it by more.
 */
const MAX_YOUNG = 24;

/** A serving thread, as seen by the main thread. */
export class WorkerHandle {
  readonly index: number;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  /** Whether it serves all ports. */
  isServing = false;
  /** Whether it ends and has no connection left. */
  isClosed = false;
  /** Its figures when they were last requested. */
  lastFigures: readonly FamilyFigures[] = [];
  readonly #worker: Worker;
  readonly #serving: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #questions = new Map<number, (state: ThreadState | undefined) => void>();
  #asked = 0;
  /** Called with the result of preparing other code. */
  #onPrepared: ((preparation: Preparation) => void) | undefined;
  #onCommitted: (() => void) | undefined;

  /** `script`: URL of the module that the thread loads. */
  constructor(script: string, start: WorkerStart, env: NodeJS.ProcessEnv, owner: ThreadOwner) {
    this.index = start.index;
    this.#worker = new Worker(new URL(script), {
      workerData: start,
      env,
      resourceLimits: {
        // Without a limit of its own, a thread whose heap is full ends the whole process.
        maxOldGenerationSizeMb: Math.round(heapLimits().old / 2 ** 20),
        maxYoungGenerationSizeMb: MAX_YOUNG,
      },
      transferList: start.links.flatMap(portsOf),
    });
    let failure: string | undefined;
    this.#worker.on("message", (report: WorkerReport) => {
      switch (report.kind) {
        case "lines":
          owner.lines(report.lines);
          return;
        case "audit":
          owner.audit(report.line);
          return;
        case "closed":
          this.isClosed = true;
          owner.closed(this);
          return;
        case "memory":
          report.port.postMessage(owner.memory(report.name, report.size));
          Atomics.store(report.signal, 0, 1);
          Atomics.notify(report.signal, 0);
          report.port.close();
          return;
        case "failed":
          failure = report.message;
          return;
        case "counted":
          this.#received(report.question, report);
          return;
        case "prepared":
          this.#onPrepared?.(
            report.problem === undefined ? "prepared" : { problem: report.problem },
          );
          return;
        case "committed":
          this.#onCommitted?.();
          return;
        case "serving":
          this.isServing = true;
          this.#serving.resolve();
      }
    });
    this.#worker.on("error", (error: Error) => {
      if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
        writeError(
          "a thread ran out of memory: its requests are lost, and another one replaces it",
        );
      else writeError(`bug: ${bugText(error)}`, { kind: "bug" });
    });
    this.#worker.on("exit", () => {
      this.isServing = false;
      this.#serving.resolve();
      for (const question of this.#questions.keys()) this.#received(question, undefined);
      this.#onPrepared?.("ended");
      this.#onCommitted?.();
      owner.ended(this, failure);
    });
  }

  /** Resolves when it serves or has ended. */
  serving(): Promise<void> {
    return this.#serving.promise;
  }

  /** Returns its state; `undefined` once it has ended. */
  state(): Promise<ThreadState | undefined> {
    if (!this.isServing) return Promise.resolve(undefined);
    const question = this.#asked++;
    return new Promise((resolve) => {
      this.#questions.set(question, resolve);
      this.#order({ kind: "count", question });
    });
  }

  /** Makes it prepare other code, as one of `count` threads. */
  prepare(code: unknown, build: BuildInfo, count: number): Promise<Preparation> {
    if (!this.isServing) return Promise.resolve("ended");
    return new Promise((resolve) => {
      this.#onPrepared = resolve;
      this.#order({ kind: "prepare", code, build, count });
    });
  }

  /** Makes it serve the prepared code; resolves when it does or has ended. */
  commit(): Promise<void> {
    if (!this.isServing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onCommitted = resolve;
      this.#order({ kind: "commit" });
    });
  }

  /** Makes it discard the prepared code. */
  abort(): void {
    this.#order({ kind: "abort" });
  }

  /** Notifies its script. */
  notify(notice: unknown): void {
    this.#order({ kind: "notify", notice });
  }

  /** Gives it ports to another thread. */
  link(link: ThreadPorts): void {
    this.#order({ kind: "link", link }, portsOf(link));
  }

  /** Reports that no thread has a connection left. */
  allClosed(): void {
    this.#order({ kind: "allClosed" });
  }

  /** Ends it as SIGTERM does. */
  end(): void {
    this.#order({ kind: "end" });
  }

  /** Terminates it. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #order(order: WorkerOrder, moved: readonly MessagePort[] = []): void {
    this.#worker.postMessage(order, moved);
  }

  #received(question: number, state: ThreadState | undefined): void {
    if (state !== undefined) this.lastFigures = state.figures;
    this.#questions.get(question)?.(state);
    this.#questions.delete(question);
  }
}

function portsOf({ requests, calls }: ThreadPorts): readonly MessagePort[] {
  return [requests, calls];
}
