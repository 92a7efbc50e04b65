import type { Metrics } from "../metrics/metrics.ts";
import {
  bufferedBytes,
  bufferedBytesLimit,
  buildInfo,
  eventLoopSeconds,
  lastReloadSuccessful,
  lastReloadTime,
  logLinesDropped,
  processCpu,
  processMemory,
  processStart,
  reloads,
} from "../metrics/table/process.ts";
import type { BufferBudget } from "../process/buffer-budget.ts";
import { SECOND } from "../process/units.ts";
import type { BuildInfo } from "./build-info.ts";

/** Facts about the process. */
export interface ProcessFigures {
  /** Name of the gateway. */
  readonly name: string;
  /** `main`, or the index of a serving thread. */
  readonly thread: string;
  readonly build: BuildInfo;
  readonly buffers: Pick<BufferBudget, "held" | "limit">;
  readonly droppedLogLines: number;
}

/** Metrics of the process itself. */
export class ProcessMetrics {
  readonly #metrics: Metrics;
  #isNewest = 1;
  #loadedAt = Date.now();

  constructor(metrics: Metrics, figures: () => ProcessFigures) {
    this.#metrics = metrics;
    metrics.read(buildInfo, () => {
      const { name, build } = figures();
      return [[[name, build.version, build.configDigest], 1]];
    });
    // Counters exist before their first event, because a rate needs their zeros.
    for (const result of ["ok", "failed"]) metrics.counter(reloads, result);
    metrics.read(lastReloadSuccessful, () => [[[], this.#isNewest]]);
    metrics.read(lastReloadTime, () => [[[], this.#loadedAt / SECOND]]);
    metrics.read(bufferedBytes, () => [[[], figures().buffers.held]]);
    metrics.read(bufferedBytesLimit, () => [[[], figures().buffers.limit]]);
    metrics.read(logLinesDropped, () => [[[], figures().droppedLogLines]]);
    metrics.read(eventLoopSeconds, () => [
      [[figures().thread], performance.eventLoopUtilization().active / SECOND],
    ]);
    metrics.read(processCpu, () => {
      const { user, system } = process.cpuUsage();
      return [[[], (user + system) / 1e6]];
    });
    metrics.read(processMemory, () => [[[], process.memoryUsage.rss()]]);
    // Computed once: clocks drift, and tools that count restarts look for any change.
    const start = Number((Date.now() / SECOND - process.uptime()).toFixed(3));
    metrics.read(processStart, () => [[[], start]]);
  }

  /** Counts a reload. */
  reloaded(isServed: boolean): void {
    this.#metrics.counter(reloads, isServed ? "ok" : "failed").value += 1;
    this.#isNewest = isServed ? 1 : 0;
    if (isServed) this.#loadedAt = Date.now();
  }
}
