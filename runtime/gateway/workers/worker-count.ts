import { availableParallelism } from "node:os";
import { StartupError } from "../../process/startup-error.ts";
import type { Gateway, WorkerThreads } from "../definition.ts";

/** Maximum number of threads, because each has memory of its own. */
export const MAX_THREADS = 256;

/** Settings of a gateway that determine the number. */
interface WorkerSettings extends Pick<Gateway, "workerThreads" | "maxThreads"> {
  readonly connections: Pick<Gateway["connections"], "maxConnections">;
}

/**
 * Returns the number of threads: as configured, or WORKER_THREADS if several are configured, because code for one thread
 * differs. Throws StartupError if the variable is malformed.
 */
export function workerCount(
  { workerThreads, maxThreads: most = MAX_THREADS, connections }: WorkerSettings,
  variable: string | undefined,
): number {
  if (workerThreads === undefined) return 1;
  const wanted = threadsOf(readThreads(variable) ?? workerThreads);
  return Math.max(1, Math.min(wanted, MAX_THREADS, most, connections.maxConnections));
}

function threadsOf(threads: WorkerThreads): number {
  return typeof threads === "number"
    ? threads
    : Math.round((availableParallelism() * threads.percent) / 100);
}

function readThreads(text: string | undefined): WorkerThreads | undefined {
  if (text === undefined || text === "") return undefined;
  const [, digits = "", sign] = /^(\d{1,4})(%)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (value > 0) return sign === undefined ? value : { percent: value };
  throw new StartupError(`WORKER_THREADS must be a number or a part like "50%", not "${text}"`);
}
