import { Worker } from "node:worker_threads";

/** Milliseconds after which a call is reported. */
const LONG = 1000;
/** Milliseconds between two looks. */
const INTERVAL = 200;
/** Bytes by which the process grows during one call that is reported: it may run out of memory before it is slow. */
const LARGE = 128 * 2 ** 20;

/**
 * Code of the thread. It writes to stderr itself, because `process.stderr` of a thread needs the main thread, which is blocked.
 * `cells`: number of the policy whose hook runs (0 if none does), and the count of calls.
 */
const THREAD = `
const { parentPort, workerData: { cells, interval, long, large } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const names = [];
parentPort.on("message", (name) => names.push(name));
let last = -1;
let since = 0;
let size = 0;
let isLong = false;
let isLarge = false;
const report = (policy, problem) =>
  writeSync(2, "error: custom policy " + names[policy - 1] + " " + problem + ": all requests of its thread wait\\n");
setInterval(() => {
  const [policy, call] = cells;
  const now = performance.now();
  if (policy === 0 || call !== last) {
    last = call;
    since = now;
    size = process.memoryUsage.rss();
    isLong = isLarge = false;
    return;
  }
  if (!isLong && now - since >= long) {
    isLong = true;
    report(policy, "has not returned for " + Math.round(now - since) + " ms");
  }
  const grown = process.memoryUsage.rss() - size;
  if (!isLarge && grown >= large) {
    isLarge = true;
    report(policy, "has taken " + Math.round(grown / 2 ** 20) + " MB in one call");
  }
}, interval);
`;

/**
 * Notices hooks that do not return. A thread of its own names the policy, because the thread of the hook cannot log anything; it
 * takes 17 MB, and starts with the first call. There is one for each thread that runs policies.
 */
class Watchdog {
  readonly #cells = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #numbers = new Map<string, number>();
  #worker: Worker | undefined;

  /** Calls a hook of a policy, which may call another one. */
  watch<Result>(name: string, call: () => Result): Result {
    const [outer = 0, calls = 0] = this.#cells;
    this.#cells[0] = this.#numbers.get(name) ?? this.#add(name);
    this.#cells[1] = calls + 1;
    try {
      return call();
    } finally {
      this.#cells[0] = outer;
    }
  }

  #add(name: string): number {
    this.#worker ??= this.#start();
    this.#worker.postMessage(name);
    const added = this.#numbers.size + 1;
    this.#numbers.set(name, added);
    return added;
  }

  #start(): Worker {
    const workerData = { cells: this.#cells, interval: INTERVAL, long: LONG, large: LARGE };
    const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 };
    const options = { eval: true, name: "policies", env: {}, execArgv: [], resourceLimits };
    const worker = new Worker(THREAD, { ...options, workerData });
    // It watches as long as the process has other work. Without it, requests are served as before.
    worker.unref();
    worker.on("error", () => {});
    return worker;
  }
}

/** The watchdog of this thread. */
export const watchdog: Watchdog = new Watchdog();
