import { isMainThread, workerData } from "node:worker_threads";
import { writeError } from "../../process/operator-errors.ts";
import { StartupError } from "../../process/startup-error.ts";
import { bundleInfo } from "../build-info.ts";
import { isOnlyChecked } from "../command-line.ts";
import type { Gateway } from "../definition.ts";
import { endOnSignal, logUncaughtErrors, startGateway } from "../start.ts";
import { serveAsWorker } from "./serve-as-worker.ts";
import { ThreadGroup } from "./thread-group.ts";
import { workerCount } from "./worker-count.ts";
import type { WorkerStart } from "./worker-messages.ts";

/**
 * Runs a gateway as this process with its number of threads: one is `startGateway`, several are a ThreadGroup. `script`: URL of
 * the bundle, which each thread loads.
 */
export async function startWorkers(gateway: Gateway, script: string): Promise<void> {
  if (isStart(workerData))
    return serveAsWorker(workerData, { ...gateway, load: async () => gateway, notified: () => {} });
  if (!isMainThread) return;
  try {
    const count = workerCount(gateway, process.env.WORKER_THREADS);
    if (count > 1 && !isOnlyChecked()) {
      const threads = new ThreadGroup(gateway, { script, build: bundleInfo });
      logUncaughtErrors(gateway);
      endOnSignal(threads, ["SIGTERM", "SIGINT", "SIGHUP"]);
      await threads.open();
    } else await startGateway({ ...gateway, workerThreads: 1 });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    writeError(error.message, { configured: gateway.accessLog.format });
    process.exit(1);
  }
}

/** Whether the data of a thread makes it one of several that serve. */
export function isStart(value: unknown): value is WorkerStart {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "gwc-worker"
  );
}
