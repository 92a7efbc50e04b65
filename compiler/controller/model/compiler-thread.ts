import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { isRepository } from "../../installation.ts";
import type { CompiledFiles, PodSettings } from "./compile-files.ts";
import type { CompileRequest } from "./compile-worker.ts";

/** A thread that compiles; it is started again when it ends. */
export class CompilerThread {
  #worker: Worker | undefined;

  /** Compiles in the background. Rejects when the thread ends over it: a bug, or too little memory. */
  compile(
    files: Readonly<Record<string, string>>,
    pods: PodSettings | undefined,
  ): Promise<CompiledFiles> {
    const worker = this.#worker ?? newWorker();
    this.#worker = worker;
    const request: CompileRequest = { files, pods };
    return new Promise<CompiledFiles>((resolve, reject) => {
      const end = (error: Error) => {
        this.#worker = undefined;
        void worker.terminate();
        reject(error);
      };
      const ended = () => end(new Error("the compiler's thread ended"));
      worker.once("error", end);
      worker.once("exit", ended);
      worker.once("message", (compiled: CompiledFiles) => {
        worker.off("error", end);
        worker.off("exit", ended);
        resolve(compiled);
      });
      worker.postMessage(request);
    });
  }

  stop(): void {
    void this.#worker?.terminate();
  }
}

/** Megabytes of a thread's new objects: V8's default keeps three times that. */
const NEW_OBJECTS = 12;

/**
 * V8 lets a heap grow to a multiple of what lives before it looks for garbage. Compiling leaves little of what it makes, and
 * a pod has to pay for all of it: both threads of the process look after each third more.
 */
function newWorker(): Worker {
  setFlagsFromString("--heap-growing-percent=33");
  return new Worker(new URL(WORKER, import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: NEW_OBJECTS },
  });
}

/** A published package has JavaScript. */
const WORKER = isRepository ? "./compile-worker.ts" : "./compile-worker.js";
