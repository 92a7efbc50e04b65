import { type MessagePort, Worker } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import { bugText } from "../../process/bug-text.ts";
import type { FamilyFigures } from "../../telemetry/metrics/merged-exposition.ts";
import type { MemorySize, WorkerOrder, WorkerReport, WorkerStart } from "./worker-messages.ts";

/** Who is told of what a thread does. */
export interface ThreadOwner {
  lines(lines: string): void;
  audit(line: string): void;
  memory(name: string, size: MemorySize): SharedArrayBuffer;
  /** It ends, and has no connection any more. */
  closed(): void;
  /** It has ended, whoever wanted it. `failure`: why it could not start. */
  ended(thread: WorkerHandle, failure: string | undefined): void;
}

/** A thread that serves, as the process sees it. */
export class WorkerHandle {
  readonly index: number;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  /** It serves all ports. */
  isServing = false;
  /** It ends, and has no connection any more. */
  isClosed = false;
  /** What it had counted when it was asked last. */
  lastFigures: readonly FamilyFigures[] = [];
  readonly #worker: Worker;
  readonly #serving: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #questions = new Map<number, (figures: readonly FamilyFigures[]) => void>();
  #asked = 0;

  /** `script`: the URL of the bundle, which the thread loads for itself. */
  constructor(script: string, start: WorkerStart, env: NodeJS.ProcessEnv, owner: ThreadOwner) {
    this.index = start.index;
    this.#worker = new Worker(new URL(script), {
      workerData: start,
      env,
      transferList: start.links.flatMap(portsOf),
    });
    let failure: string | undefined;
    this.#worker.on("message", (report: WorkerReport) => {
      if (report.kind === "lines") owner.lines(report.lines);
      else if (report.kind === "audit") owner.audit(report.line);
      else if (report.kind === "closed") {
        this.isClosed = true;
        owner.closed();
      } else if (report.kind === "memory") {
        report.port.postMessage(owner.memory(report.name, report.size));
        Atomics.store(report.signal, 0, 1);
        Atomics.notify(report.signal, 0);
        report.port.close();
      } else if (report.kind === "failed") failure = report.message;
      else if (report.kind === "counted") this.#counted(report.question, report.figures);
      else {
        this.isServing = true;
        this.#serving.resolve();
      }
    });
    this.#worker.on("error", (error: Error) => {
      process.stderr.write(`bug: ${bugText(error)}\n`);
    });
    this.#worker.on("exit", () => {
      this.isServing = false;
      this.#serving.resolve();
      for (const question of this.#questions.keys()) this.#counted(question, []);
      owner.ended(this, failure);
    });
  }

  /** Resolves when it serves, or has ended. */
  serving(): Promise<void> {
    return this.#serving.promise;
  }

  /** What it has counted so far; nothing once it has ended. */
  figures(): Promise<readonly FamilyFigures[]> {
    if (!this.isServing) return Promise.resolve([]);
    const question = this.#asked++;
    return new Promise((resolve) => {
      this.#questions.set(question, resolve);
      this.#order({ kind: "count", question });
    });
  }

  /** Gives it the way to another one. */
  link(link: ThreadPorts): void {
    this.#order({ kind: "link", link }, portsOf(link));
  }

  /** No thread has a connection any more. */
  allClosed(): void {
    this.#order({ kind: "allClosed" });
  }

  /** Ends it as SIGTERM has it. */
  end(): void {
    this.#order({ kind: "end" });
  }

  /** Breaks it off. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #order(order: WorkerOrder, moved: readonly MessagePort[] = []): void {
    this.#worker.postMessage(order, moved);
  }

  #counted(question: number, figures: readonly FamilyFigures[]): void {
    if (figures.length > 0) this.lastFigures = figures;
    this.#questions.get(question)?.(figures);
    this.#questions.delete(question);
  }
}

function portsOf({ requests, calls }: ThreadPorts): readonly MessagePort[] {
  return [requests, calls];
}
