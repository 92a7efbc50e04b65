import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** A thread that responds to one request at a time; it is started again when it ends. */
export class BackgroundThread<Request, Response> {
  readonly #module: URL;
  #worker: Worker | undefined;

  /** `module` is what the thread runs: it posts one message for each that it gets. */
  constructor(module: URL) {
    this.#module = module;
  }

  /** Works in the background. Rejects when the thread ends over it: a bug, too little memory, or `stop`. */
  ask(request: Request): Promise<Response> {
    const worker = this.#worker ?? newWorker(this.#module);
    this.#worker = worker;
    return new Promise<Response>((resolve, reject) => {
      const end = (error: Error) => {
        if (this.#worker === worker) this.#worker = undefined;
        void worker.terminate();
        reject(error);
      };
      const ended = () => end(new Error("the thread ended"));
      worker.once("error", end);
      worker.once("exit", ended);
      worker.once("message", (response: Response) => {
        worker.off("error", end);
        worker.off("exit", ended);
        resolve(response);
      });
      worker.postMessage(request);
    });
  }

  /** Ends the thread, whatever it does. */
  stop(): void {
    void this.#worker?.terminate();
  }
}

/** Megabytes of a thread's new objects: V8's default keeps three times that. */
const NEW_OBJECTS = 24;

/**
 * V8 lets a heap grow to a multiple of what lives before it looks for garbage. Compiling leaves little of what it makes, and
 * a pod has to pay for all of it: all threads of the process look after each 60 percent more.
 */
function newWorker(module: URL): Worker {
  setFlagsFromString("--heap-growing-percent=60");
  return new Worker(module, { resourceLimits: { maxYoungGenerationSizeMb: NEW_OBJECTS } });
}
