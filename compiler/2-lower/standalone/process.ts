import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import type { ProcessNode } from "../../ir/program.ts";
import { parseDuration } from "../../schema/duration.ts";

/** Default settings of a process. */
export const DEFAULT_PROCESS: ProcessNode = {
  logFormat: "text",
  addresses: { stats: ":15020", readiness: ":15021" },
  adminAddress: "127.0.0.1:15000",
  drain: { min: 0, max: 5000 },
};

/** Merges the settings of a process over `rest`. */
export function readProcess(
  config: ProcessValue | undefined,
  rest: ProcessNode = DEFAULT_PROCESS,
): ProcessNode {
  if (config === undefined) return rest;
  const { connectionMinTerminationDeadline: min, connectionTerminationDeadline: max } = config;
  return {
    ...rest,
    logFormat: config.logging?.format ?? rest.logFormat,
    ...(config.logging?.audit !== undefined && { audit: { file: config.logging.audit.file } }),
    addresses: {
      stats: config.statsAddr ?? rest.addresses.stats,
      readiness: config.readinessAddr ?? rest.addresses.readiness,
    },
    adminAddress: config.adminAddr ?? rest.adminAddress,
    drain: { min: milliseconds(min, rest.drain.min), max: milliseconds(max, rest.drain.max) },
    ...(config.workerThreads !== undefined && { workers: readThreads(config.workerThreads) }),
    ...(config.maxBufferedBytes === undefined ? {} : { maxBufferedBytes: config.maxBufferedBytes }),
  };
}

/** Removes the default of one thread, which may override a larger number set elsewhere. */
export function settleThreads({ workers, ...process }: ProcessNode): ProcessNode {
  return workers === undefined || workers === 1 ? process : { ...process, workers };
}

/** Returns a number of threads, or a percentage of the cores. */
export function readThreads(value: number | string): NonNullable<ProcessNode["workers"]> {
  return typeof value === "number" ? value : { percent: Number(value.replace("%", "")) };
}

function milliseconds(text: string | undefined, otherwise: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? otherwise;
}
