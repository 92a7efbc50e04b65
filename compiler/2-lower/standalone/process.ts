import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import type { ProcessNode } from "../../ir/program.ts";
import { parseDuration } from "../../schema/duration.ts";

/** The settings of the process, complete. */
export function readProcess(config: ProcessValue | undefined): ProcessNode {
  return {
    logFormat: config?.logging?.format ?? "text",
    addresses: {
      stats: config?.statsAddr ?? "0.0.0.0:15020",
      readiness: config?.readinessAddr ?? "0.0.0.0:15021",
    },
    adminAddress: config?.adminAddr ?? "127.0.0.1:15000",
    drain: {
      min: parseDuration(config?.connectionMinTerminationDeadline ?? "0s") ?? 0,
      max: parseDuration(config?.connectionTerminationDeadline ?? "5s") ?? 5000,
    },
    ...(config?.maxBufferedBytes === undefined
      ? {}
      : { maxBufferedBytes: config.maxBufferedBytes }),
  };
}
