import { Worker } from "node:worker_threads";

/** Milliseconds after which a call is reported. */
const LONG = 1000;
/** Milliseconds between two looks. */
const INTERVAL = 200;
/** Bytes by which the process grows during one call that is reported: it may run out of memory before it is slow. */
const LARGE = 128 * 2 ** 20;

/** Policies whose async hooks are counted. Those beyond are not named if they block after an `await`. */
const MAX_COUNTED = 1024;

/** Places in the shared memory: number of the policy whose hook runs (0 if none does), count of calls, count of turns. */
const [POLICY, CALL, TURN, RUNNING] = [0, 1, 2, 3];

/**
 * Code of the thread. It writes to stderr itself, because `process.stderr` of a thread needs the main thread, which is blocked.
 * `cells`: as above, and from `RUNNING` on the number of async hooks of each policy that have not finished. Their code after an
 * `await` runs outside of any call, so it is only known that the event loop makes no turns.
 */
const THREAD = `
const { parentPort, workerData: { cells, interval, long, large, running0 } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const names = [];
parentPort.on("message", (name) => names.push(name));
let last = -1;
let since = 0;
let size = 0;
let isLong = false;
let isLarge = false;
let turn = -1;
let looks = 0;
const report = (policy, problem) =>
  writeSync(2, "error: custom policy " + names[policy - 1] + " " + problem + ": all requests of its thread wait\\n");
setInterval(() => {
  const [policy, call, turns] = cells;
  const now = performance.now();
  looks = turns === turn ? looks + 1 : 0;
  turn = turns;
  if (policy === 0 && looks === Math.ceil(long / interval)) {
    const running = names.filter((_, index) => cells[running0 + index] > 0);
    const what = "all requests of their thread have waited for " + looks * interval + " ms";
    if (running.length > 0)
      writeSync(2, "error: async hooks of custom policies run (" + running.join(", ") + "), and " + what + "\\n");
  }
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
  readonly #cells = new Int32Array(
    new SharedArrayBuffer((RUNNING + MAX_COUNTED) * Int32Array.BYTES_PER_ELEMENT),
  );
  readonly #numbers = new Map<string, number>();
  #worker: Worker | undefined;

  /** Calls a hook of a policy, which may call another one. */
  watch<Result>(name: string, call: () => Result): Result {
    const [outer = 0, calls = 0] = this.#cells;
    const policy = this.#numbers.get(name) ?? this.#add(name);
    this.#cells[POLICY] = policy;
    this.#cells[CALL] = calls + 1;
    try {
      const result = call();
      if (result instanceof Promise) this.#count(policy, result);
      return result;
    } finally {
      this.#cells[POLICY] = outer;
    }
  }

  /** Counts an async hook until it has finished, which may be after its deadline. */
  #count(policy: number, hook: Promise<unknown>): void {
    if (policy > MAX_COUNTED) return;
    const at = RUNNING + policy - 1;
    const add = (change: number) => {
      this.#cells[at] = (this.#cells[at] ?? 0) + change;
    };
    const finished = () => add(-1);
    add(1);
    hook.then(finished, finished);
  }

  #add(name: string): number {
    this.#worker ??= this.#start();
    this.#worker.postMessage(name);
    const added = this.#numbers.size + 1;
    this.#numbers.set(name, added);
    return added;
  }

  #start(): Worker {
    const limits = { interval: INTERVAL, long: LONG, large: LARGE };
    const workerData = { cells: this.#cells, ...limits, running0: RUNNING };
    const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 };
    const options = { eval: true, name: "policies", env: {}, execArgv: [], resourceLimits };
    const worker = new Worker(THREAD, { ...options, workerData });
    // It watches as long as the process has other work. Without it, requests are served as before.
    worker.unref();
    worker.on("error", () => {});
    setInterval(() => {
      this.#cells[TURN] = (this.#cells[TURN] ?? 0) + 1;
    }, INTERVAL).unref();
    return worker;
  }
}

/** The watchdog of this thread. */
export const watchdog: Watchdog = new Watchdog();
