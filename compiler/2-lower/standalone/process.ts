import type { LogFormat } from "../../../runtime/telemetry/logs/log-line.ts";
import type { ProcessNode } from "../../ir/program.ts";
import { parseDuration } from "../../schema/duration.ts";
import type { LoggingValue } from "./access-log.ts";

/** `config` as the schema has let it through. */
export interface ProcessConfig {
  readonly statsAddr?: string;
  readonly readinessAddr?: string;
  readonly adminAddr?: string;
  readonly logging?: LoggingValue & { readonly format?: LogFormat };
  readonly connectionMinTerminationDeadline?: string;
  readonly connectionTerminationDeadline?: string;
}

/** The settings of the process, complete. */
export function readProcess(config: ProcessConfig | undefined): ProcessNode {
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
  };
}
