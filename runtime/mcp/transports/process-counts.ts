import type { Metrics } from "../../metrics/metrics.ts";
import { mcpProcesses, mcpProcessFailures, mcpProcessStarts } from "../../metrics/table/mcp.ts";

/** Counts the processes of stdio targets. */
export class ProcessCounts {
  readonly #metrics: Metrics;
  /** Number of running processes, by target. */
  readonly #running = new Map<string, number>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.read(mcpProcesses, () =>
      Array.from(this.#running, ([target, count]) => [[target], count] as const),
    );
  }

  started(target: string): void {
    this.#metrics.counter(mcpProcessStarts, target).value += 1;
    // Creates the counter with value 0: a rate needs that first sample.
    this.#metrics.counter(mcpProcessFailures, target);
    this.#running.set(target, (this.#running.get(target) ?? 0) + 1);
  }

  /** Counts the exit of a started process. */
  ended(target: string): void {
    this.#running.set(target, (this.#running.get(target) ?? 1) - 1);
  }

  /** Counts a process that ended by itself or did not start. */
  failed(target: string): void {
    this.#metrics.counter(mcpProcessFailures, target).value += 1;
  }
}
