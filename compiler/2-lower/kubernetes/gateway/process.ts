import type { AccessLogConfig } from "../../../config/access-log.ts";
import { defaultFrontend, type FrontendConfig } from "../../../config/frontend.ts";
import type { LevelsConfig } from "../../../config/log-levels.ts";
import type { PathHandlingResource } from "../../../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { ProcessNode } from "../../../ir/program.ts";
import { readAccessLogs, readLogLevels } from "../../standalone/access-log.ts";
import { readFrontend } from "../../standalone/frontend.ts";
import {
  DEFAULT_PROCESS,
  readProcess,
  readThreads,
  settleThreads,
} from "../../standalone/process.ts";
import type { ParametersSpec } from "./parameters.ts";

/**
 * Drain times of pods in milliseconds. Listeners stay open for the minimum, because load balancers learn of the
 * shutdown late; streams end at the maximum.
 */
const DEFAULT_DRAIN: ProcessNode["drain"] = { min: 10_000, max: 60_000 };

/** Returns the process settings of a Gateway's pods: the fields of parameters override raw configuration. */
export function processNode(parameters: readonly ParametersSpec[]): ProcessNode {
  const raw = parameters.reduce<ProcessNode>(
    (process, { rawConfig }) => readProcess(rawConfig?.config, process),
    { ...DEFAULT_PROCESS, drain: DEFAULT_DRAIN },
  );
  const logging = lastOf(parameters, ({ logging: each }) => each?.format);
  const format = lastOf(parameters, (each) => formatOf(variableOf(each, LOG_FORMAT)?.value));
  const workers = lastOf(parameters, workersOf);
  const shutdown = lastOf(parameters, (each) => each.shutdown);
  return settleThreads({
    ...raw,
    logFormat: format ?? logging ?? raw.logFormat,
    ...(workers !== undefined && { workers }),
    drain:
      shutdown === undefined ? raw.drain : { min: shutdown.min * 1000, max: shutdown.max * 1000 },
  });
}

/** Reads a container variable with the meaning of a configuration field, and checks it like the field. */
function workersOf(parameters: ParametersSpec): ProcessNode["workers"] {
  const variable = variableOf(parameters, "WORKER_THREADS");
  const [text, digits, sign] = /^([1-9]\d{0,3})(%)?$/.exec(variable?.value ?? "") ?? [];
  if (text === undefined) return undefined;
  return readThreads(sign === undefined ? Number(digits) : text);
}

const LOG_FORMAT = "LOG_FORMAT";
const LOG_LEVELS = "RUST_LOG";
const FORMATS: readonly ProcessNode["logFormat"][] = ["text", "json"];

function formatOf(text: string | undefined): ProcessNode["logFormat"] | undefined {
  return FORMATS.find((format) => format === text?.toLowerCase());
}

/** Reports an invalid log format in a variable, with which pods would not start. */
export function checkLogFormat(
  parameters: readonly ParametersSpec[],
  diagnostics: Diagnostics,
): void {
  for (const each of parameters) {
    const { value, origin } = variableOf(each, LOG_FORMAT) ?? {};
    if (origin === undefined || !value || formatOf(value) !== undefined) continue;
    const field = `the variable "${LOG_FORMAT}"`;
    const allowed = FORMATS.join(", ");
    const found = JSON.stringify(value);
    const params = { field, found, allowed, instead: undefined, suggestion: undefined };
    diagnostics.report("unknown-value", origin, params);
  }
}

/** Returns the last variable of a name, which is the effective one. */
function variableOf(
  { env = [], origin }: ParametersSpec,
  wanted: string,
): { readonly value: string | undefined; readonly origin: Origin } | undefined {
  const index = env.findLastIndex(({ name }) => name === wanted);
  if (index < 0) return undefined;
  return { value: env[index]?.value, origin: childOf(origin, "spec", "env", index, "value") };
}

/**
 * Returns the frontend from raw configurations; the Gateway's own overrides its class's. `origin` is the
 * Gateway's.
 */
export function rawFrontend(parameters: readonly ParametersSpec[], origin: Origin): FrontendConfig {
  return parameters.reduce<FrontendConfig>(
    (frontend, { rawConfig, origin: own }) =>
      readFrontend(rawConfig ?? {}, childOf(own, "spec", "rawConfig"), frontend),
    defaultFrontend(origin),
  );
}

/**
 * Returns the log levels, lowest precedence first: raw configurations, fields of parameters, and variables of
 * pods.
 */
export function logLevels(parameters: readonly ParametersSpec[]): readonly LevelsConfig[] {
  const raw = parameters.flatMap(({ rawConfig, origin }) =>
    readLogLevels(
      rawConfig?.config?.logging,
      childOf(origin, "spec", "rawConfig", "config", "logging"),
    ),
  );
  const typed = parameters.flatMap(({ logging, origin }) =>
    readLogLevels(logging, childOf(origin, "spec", "logging")),
  );
  const variables = parameters.flatMap((each): readonly LevelsConfig[] => {
    const { value: text, origin } = variableOf(each, LOG_LEVELS) ?? {};
    return text && origin ? [[{ text, origin }]] : [];
  });
  return [...raw, ...typed, ...variables];
}

/** Returns the access logs of raw configurations, the class's first. */
export function rawAccessLogs(parameters: readonly ParametersSpec[]): readonly AccessLogConfig[] {
  return parameters.flatMap(({ rawConfig, origin }) =>
    readAccessLogs(
      rawConfig?.config?.logging,
      rawConfig?.frontendPolicies,
      childOf(origin, "spec", "rawConfig"),
    ),
  );
}

/** Returns the path handling of listeners by name; the Gateway's own raw configuration overrides its class's. */
export function pathHandlings(
  parameters: readonly ParametersSpec[],
): ReadonlyMap<string, PathHandlingResource> {
  return new Map(
    parameters.flatMap(({ rawConfig, origin }) =>
      (rawConfig?.listeners ?? []).map(({ name, pathHandling }, index) => {
        const at = childOf(origin, "spec", "rawConfig", "listeners", index, "pathHandling");
        return [name, { value: pathHandling, origin: at }] as const;
      }),
    ),
  );
}

/** Returns the value of the last parameters that have one. */
export function lastOf<Value>(
  parameters: readonly ParametersSpec[],
  read: (each: ParametersSpec) => Value | undefined,
): Value | undefined {
  return parameters.map(read).findLast((value) => value !== undefined);
}
