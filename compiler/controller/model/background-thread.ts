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

  /**
   * Works in the background. Rejects when the thread ends over it: a bug, too little memory, `stop`, or more than
   * `limit` milliseconds of a processor.
   */
  ask(request: Request, limit?: number): Promise<Response> {
    const worker = this.#worker ?? newWorker(this.#module);
    this.#worker = worker;
    return new Promise<Response>((resolve, reject) => {
      const watch =
        limit === undefined ? undefined : watchTime(worker, limit, (error) => end(error));
      const end = (error: Error) => {
        clearInterval(watch);
        if (this.#worker === worker) this.#worker = undefined;
        void worker.terminate();
        reject(error);
      };
      const ended = () => end(new Error("the thread ended"));
      worker.once("error", end);
      worker.once("exit", ended);
      worker.once("message", (response: Response) => {
        clearInterval(watch);
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

/** Milliseconds between two looks at the processor time of a thread. */
const LOOK_AGAIN = 500;

/** Calls `end` once a thread has used more than `limit` milliseconds of a processor from now on. */
function watchTime(worker: Worker, limit: number, end: (error: Error) => void): NodeJS.Timeout {
  const start = worker.cpuUsage().catch(() => undefined);
  const look = async () => {
    const { user, system } = await worker.cpuUsage(await start);
    const used = (user + system) / 1_000;
    if (used > limit) end(new Error(`it took more than ${limit / 1_000} s of a processor`));
  };
  // A thread that is starting or ending has no times.
  return setInterval(() => void look().catch(() => {}), LOOK_AGAIN);
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
