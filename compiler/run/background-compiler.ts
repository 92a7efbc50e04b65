import { Worker } from "node:worker_threads";
import { threadModule } from "../installation.ts";
import type { Candidate } from "./candidate.ts";

/** Result of a compilation in a thread. */
export interface CompileOrder {
  readonly file: string;
  readonly isStrict: boolean;
  readonly gateway: string | undefined;
  readonly variables: NodeJS.ProcessEnv;
}

/** Milliseconds without a change after which the thread ends: its memory is given back. */
const IDLE_TIME = 30_000;

/**
 * Compiles in a thread of its own. In the thread that serves, each change would make all requests wait for a tenth of a second
 * and more.
 */
export class BackgroundCompiler {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Resolves with what the file says now. Rejects if the thread ends over it: a bug, or too little memory. */
  async compile(order: Omit<CompileOrder, "variables">): Promise<Candidate> {
    clearTimeout(this.#idle);
    try {
      return await ask(this.#start(), { ...order, variables: { ...process.env } });
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.#idle = setTimeout(() => this.#end(), IDLE_TIME).unref();
    }
  }

  #start(): Worker {
    this.#worker ??= new Worker(threadModule("run/run-compile-worker"));
    // The gateway ends without it.
    this.#worker.unref();
    return this.#worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function ask(worker: Worker, order: CompileOrder): Promise<Candidate> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("the thread that compiles has ended"));
    const settle = () => {
      worker.off("error", reject);
      worker.off("exit", ended);
    };
    worker.once("error", reject);
    worker.once("exit", ended);
    worker.once("message", (candidate: Candidate) => {
      settle();
      resolve(candidate);
    });
    worker.postMessage(order);
  });
}
