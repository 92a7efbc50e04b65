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
    const worker = this.#worker ?? new Worker(new URL(WORKER, import.meta.url));
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

/** A published package has JavaScript. */
const WORKER = isRepository ? "./compile-worker.ts" : "./compile-worker.js";
