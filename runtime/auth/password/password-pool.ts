import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { passwordThread } from "./password-thread-url.ts";

/** Message to the thread; its response is whether both match. */
export interface PasswordJob {
  readonly password: string;
  readonly expected: string;
}

/** Maximum number of waiting checks, of all clients and of one address. More are refused. */
const MAX_WAITING = 64;
const MAX_WAITING_OF_ONE = 32;

/** Milliseconds without work after which a thread ends. */
const IDLE_TIME = 30_000;

/** Threads that check passwords for a process, so that requests are not blocked. */
export class PasswordPool {
  /** Leaves one core for requests, if there are several. */
  readonly #size = Math.max(1, Math.min(2, availableParallelism() - 1));
  /** By source, in the order of their turns. */
  readonly #waiting = new Map<string, WaitingJob[]>();
  readonly #idle: PasswordThread[] = [];
  #waitingCount = 0;
  #threadCount = 0;

  /** Checks a password against a hash; "busy" if too many checks wait, or too many of this source. Sources take turns. */
  check(job: PasswordJob, source: string): Promise<boolean> | "busy" {
    const ofSource = this.#waiting.get(source) ?? [];
    if (this.#waitingCount >= MAX_WAITING || ofSource.length >= MAX_WAITING_OF_ONE) return "busy";
    const verdict = new Promise<boolean>((resolve, reject) => {
      ofSource.push({ job, resolve, reject });
    });
    this.#waiting.set(source, ofSource);
    this.#waitingCount += 1;
    const thread = this.#idle.pop() ?? (this.#threadCount < this.#size ? this.#open() : undefined);
    if (thread !== undefined) this.#next(thread);
    return verdict;
  }

  #open(): PasswordThread {
    this.#threadCount += 1;
    return new PasswordThread(
      (thread) => this.#next(thread),
      (thread) => {
        this.#threadCount -= 1;
        const at = this.#idle.indexOf(thread);
        if (at !== -1) this.#idle.splice(at, 1);
        // Waiting checks get another thread.
        if (this.#waitingCount > 0 && this.#threadCount < this.#size) this.#next(this.#open());
      },
    );
  }

  #next(thread: PasswordThread): void {
    const next = this.#take();
    if (next === undefined) this.#idle.push(thread);
    else thread.take(next);
  }

  #take(): WaitingJob | undefined {
    for (const [source, jobs] of this.#waiting) {
      const next = jobs.shift();
      this.#waiting.delete(source);
      if (jobs.length > 0) this.#waiting.set(source, jobs);
      this.#waitingCount -= 1;
      return next;
    }
    return undefined;
  }
}

/** A job that waits or is in progress. */
interface WaitingJob {
  readonly job: PasswordJob;
  readonly resolve: (isRight: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** One thread, with one job at a time. */
class PasswordThread {
  readonly #worker: Worker;
  #current: WaitingJob | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(done: (thread: PasswordThread) => void, gone: (thread: PasswordThread) => void) {
    // The environment may contain secrets, which the thread does not need.
    this.#worker = new Worker(passwordThread, { name: "passwords", env: {} });
    this.#worker.unref();
    this.#worker.on("message", (isRight: unknown) => {
      const current = this.#current;
      this.#current = undefined;
      this.#idleTimer = setTimeout(() => this.#worker.terminate(), IDLE_TIME).unref();
      current?.resolve(isRight === true);
      done(this);
    });
    this.#worker.on("error", (error) => this.#current?.reject(error));
    this.#worker.on("exit", () => {
      this.#current?.reject(new Error("the thread that checks passwords ended"));
      gone(this);
    });
  }

  take(next: WaitingJob): void {
    clearTimeout(this.#idleTimer);
    this.#current = next;
    this.#worker.postMessage(next.job);
  }
}

/** Returns the pool of a process, which is created for the first password that needs it. */
export function passwordPool(gateway: GatewayContext): PasswordPool {
  const pool = pools.get(gateway) ?? new PasswordPool();
  pools.set(gateway, pool);
  return pool;
}

const pools = new WeakMap<GatewayContext, PasswordPool>();
