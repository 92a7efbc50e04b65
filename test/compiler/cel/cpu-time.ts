/**
 * Milliseconds of CPU that a call takes on this thread, the least of several attempts. Not the time on the clock: other
 * processes share the cores.
 */
export function cpuMillis(run: () => unknown, attempts = 5): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
