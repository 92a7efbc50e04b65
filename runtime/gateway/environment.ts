import { randomBytes } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { totalmem } from "node:os";
import { resolve } from "node:path";
import type { EnvVariables } from "../cel/variables.ts";
import type { SessionKeys } from "../process/session-seal.ts";
import { StartupError } from "../process/startup-error.ts";
import { limitsFile } from "../process/state-files.ts";
import { type LogLevels, readLevels } from "../telemetry/logs/log-level.ts";
import type { LogFormat } from "../telemetry/logs/log-line.ts";
import type { DrainSettings, Gateway, ServiceAddresses } from "./definition.ts";

/** Settings of the process, with the overrides of its environment, read once at startup. */
export interface ProcessSettings {
  readonly addresses: ServiceAddresses;
  readonly drain: DrainSettings;
  readonly logFormat: LogFormat;
  readonly logLevels: LogLevels;
  /** Variables without effect; logged once. */
  readonly warnings: readonly string[];
  readonly sessionKeys: SessionKeys;
  readonly env: EnvVariables;
  /** Directory of state that survives a restart; `undefined` if nothing is persisted. */
  readonly stateDir: string | undefined;
  /** Maximum bytes of messages that are buffered whole. */
  readonly maxBufferedBytes: number;
}

/** Maximum number of session keys: a forged id costs one attempt for each of them. */
const MAX_SESSION_KEYS = 4;

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds by which the shutdown ends before the grace period, at whose end the kubelet kills the process. */
const KILL_MARGIN = 5000;

/**
 * Returns the settings of the definition with the environment's overrides. Throws a StartupError that names a malformed
 * variable.
 */
export function processSettings(gateway: Gateway, environment: Environment): ProcessSettings {
  const grace = duration(environment, "TERMINATION_GRACE_PERIOD_SECONDS");
  const longest = duration(environment, "CONNECTION_TERMINATION_DEADLINE");
  const min = duration(environment, "CONNECTION_MIN_TERMINATION_DEADLINE") ?? gateway.drain.min;
  const levels = logLevels(environment.RUST_LOG, gateway.logLevels ?? defaultLevels);
  const isIdle = environment.WORKER_THREADS !== undefined && gateway.workerThreads === undefined;
  const max =
    longest ?? (grace === undefined ? gateway.drain.max : Math.max(0, grace - KILL_MARGIN));
  return {
    addresses: {
      stats: environment.STATS_ADDR ?? gateway.addresses.stats,
      readiness: environment.READINESS_ADDR ?? gateway.addresses.readiness,
    },
    drain: { min, max: Math.max(min, max) },
    logFormat: logFormat(environment.LOG_FORMAT) ?? gateway.accessLog.format,
    logLevels: levels.logLevels,
    warnings: [
      ...levels.warnings,
      ...(isIdle
        ? ["WORKER_THREADS has no effect: the configuration has no config.workerThreads"]
        : []),
      ...(gateway.givesIds === true && !environment.SESSION_KEY ? [RANDOM_KEY] : []),
    ],
    sessionKeys: sessionKeys(environment.SESSION_KEY),
    env: {
      podName: environment.POD_NAME ?? "",
      namespace: environment.NAMESPACE ?? "",
      gateway: gateway.name,
    },
    stateDir: environment.GWC_STATE_DIR ? resolve(environment.GWC_STATE_DIR) : undefined,
    maxBufferedBytes: gateway.maxBufferedBytes ?? Math.floor(availableMemory() / 4),
  };
}

const RANDOM_KEY =
  "SESSION_KEY is not set: ids of files, batches and stored responses end with this process, and other replicas do not know them";

/**
 * Returns the memory that the process can use in bytes: its container's limit (cgroup v2 or v1), otherwise the machine's
 * memory.
 */
function availableMemory(): number {
  const limit = process.constrainedMemory();
  const machine = totalmem();
  return limit > 0 && limit < machine ? limit : machine;
}

/** Parses a duration to milliseconds: `90` (seconds), `10s`, `1m30s`, `500ms`; `undefined` if the variable is unset. */
function duration(environment: Environment, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) {
    throw new StartupError(`${name} must be seconds or a duration like "10s", not "${text}"`);
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)) {
    total += Number(amount) * (MILLISECONDS[unit ?? ""] ?? 0);
  }
  return total;
}

const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

const defaultLevels: LogLevels = { request: "info", gateway: "info", connection: "info" };

/**
 * Parses RUST_LOG, which replaces the definition's levels. Unknown parts only cause a warning, because other programs share the
 * variable.
 */
function logLevels(
  text: string | undefined,
  configured: LogLevels,
): Pick<ProcessSettings, "logLevels" | "warnings"> {
  if (text === undefined || text === "") return { logLevels: configured, warnings: [] };
  const warnings: string[] = [];
  const levels = readLevels(text, defaultLevels, (name) =>
    warnings.push(`RUST_LOG: the log has no part "${name}"`),
  );
  if (levels !== undefined) return { logLevels: levels, warnings };
  throw new StartupError(
    `RUST_LOG must be levels like "info" or "info,request=warn", not "${text}"`,
  );
}

function logFormat(text: string | undefined): LogFormat | undefined {
  if (text === undefined || text === "") return undefined;
  const format = text.toLowerCase();
  if (format === "text" || format === "json") return format;
  throw new StartupError(`LOG_FORMAT must be "text" or "json", not "${text}"`);
}

function sessionKeys(text: string | undefined): SessionKeys {
  if (text === undefined || text === "") return [randomBytes(32)];
  const digits = text.split(",");
  if (digits.length > MAX_SESSION_KEYS)
    throw new StartupError(`SESSION_KEY must have at most ${MAX_SESSION_KEYS} keys`);
  const keys = digits.map((each) => {
    if (/^[0-9a-fA-F]{64}$/.test(each)) return Buffer.from(each, "hex");
    throw new StartupError(
      "SESSION_KEY must be 64 hexadecimal digits (32 bytes), or several such keys with commas between them",
    );
  });
  const [first = randomBytes(32), ...others] = keys;
  return [first, ...others];
}

/**
 * Throws StartupError if state cannot be persisted or read again. Only called at startup: later, the gateway continues in
 * memory and warns.
 */
export function checkStateDir({ stateDir, env }: ProcessSettings): void {
  if (stateDir === undefined) return;
  try {
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!statSync(stateDir).isDirectory()) throw new Error("not a directory");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(
      `GWC_STATE_DIR must be a directory that can be written to, not "${stateDir}": ${why}`,
    );
  }
  const file = limitsFile(stateDir, env.gateway);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile())
    throw new StartupError(
      `${file} must be a file, which persists the usage of limits; move it away`,
    );
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new StartupError(
      `${file} cannot be read: make it readable for this process, or move it away`,
    );
  }
}
