import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ProcessNode } from "../../ir/program.ts";
import { isLoopback } from "../../model/loopback.ts";
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
    adminAddress: adminAddress(config) ?? rest.adminAddress,
    drain: { min: milliseconds(min, rest.drain.min), max: milliseconds(max, rest.drain.max) },
    ...(config.workerThreads !== undefined && { workers: readThreads(config.workerThreads) }),
    ...(config.maxBufferedBytes === undefined ? {} : { maxBufferedBytes: config.maxBufferedBytes }),
  };
}

/** Reports an address of the admin page beyond loopback; `origin` is that of the file. */
export function reportAdminAddress(
  config: ProcessValue | undefined,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const used = adminAddress(config);
  if (used === undefined || used === config?.adminAddr) return;
  diagnostics.report("admin-address", childOf(origin, "config", "adminAddr"), { used });
}

/** Returns the address of the admin page: on loopback, unless it has a login. */
function adminAddress({ adminAddr: address, admin }: ProcessValue = {}): string | undefined {
  if (address === undefined || address === "off" || admin?.key !== undefined) return address;
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
  return isLoopback(host) ? address : `127.0.0.1:${port}`;
}

/** Removes the default of one thread, which may override a larger number set elsewhere. */
export function settleThreads({ workers, ...process }: ProcessNode): ProcessNode {
  return workers === undefined || workers === 1 ? process : { ...process, workers };
}

/** Returns a number of threads, or a percentage of the cores. */
export function readThreads(value: number | string): NonNullable<ProcessNode["workers"]> {
  if (typeof value === "number" || !value.endsWith("%")) return Number(value);
  return { percent: Number(value.slice(0, -1)) };
}

function milliseconds(text: string | undefined, otherwise: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? otherwise;
}
