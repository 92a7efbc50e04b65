import type { frontendFields } from "../../1-parse/kubernetes/schemas/frontend.ts";
import type { FrontendValue } from "../../1-parse/standalone/frontend.ts";
import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import type { AccessLogConfig } from "../../config/access-log.ts";
import type { LevelsConfig } from "../../config/log-levels.ts";
import { readCapture, readKubernetesCapture } from "../../config/message-capture.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { Infer } from "../../schema/schema.ts";
import { readCollector, readKubernetesCollector } from "./tracing.ts";

type KubernetesAccessLog = Infer<typeof frontendFields.accessLog>;
type FileAccessLog = NonNullable<FrontendValue["accessLog"]>;
type LoggingValue = NonNullable<ProcessValue["logging"]>;

/** Reads the access logs of a file: that of `config`, then that of `frontendPolicies`. `origin` is the file's. */
export function readAccessLogs(
  ofProcess: LoggingValue | undefined,
  { accessLog, logging }: Pick<FrontendValue, "accessLog" | "logging"> = {},
  origin: Origin,
): readonly AccessLogConfig[] {
  const key = accessLog === undefined ? "logging" : "accessLog";
  return [
    readLogging(ofProcess ?? {}, childOf(origin, "config", "logging")),
    readFrontendLog(accessLog ?? logging ?? {}, childOf(origin, "frontendPolicies", key)),
  ];
}

function readFrontendLog(value: FileAccessLog, origin: Origin): AccessLogConfig {
  const { otlp } = value;
  const read = readFields(value, origin);
  if (otlp === undefined) return read;
  const at = childOf(origin, "otlp");
  const { fields, capture } = otlp;
  return {
    ...read,
    collector: readCollector(otlp, LOGS_PATH, at),
    records: {
      filter: readFilter(otlp.filter, at),
      fields: fields && readFields(fields, childOf(at, "fields")),
      capture: capture && readCapture(capture, childOf(at, "capture")),
    },
  };
}

/** Default path of log records. */
const LOGS_PATH = "/v1/logs";

function readFilter(text: string | undefined, origin: Origin): AccessLogConfig["filter"] {
  return text === undefined ? undefined : { text, origin: childOf(origin, "filter") };
}

function readFields(
  { filter, remove, add }: Pick<FileAccessLog, "filter" | "remove" | "add">,
  origin: Origin,
): AccessLogConfig {
  return {
    collector: undefined,
    filter: readFilter(filter, origin),
    remove: names(remove, childOf(origin, "remove")),
    add: Object.entries(add ?? {}).map(([name, text]) => ({
      name,
      text,
      origin: childOf(origin, "add", name),
    })),
    origin,
  };
}

/** Reads the access log of `config.logging`. */
function readLogging({ filter, fields }: LoggingValue, origin: Origin): AccessLogConfig {
  return {
    ...readFields(fields ?? {}, childOf(origin, "fields")),
    filter: readFilter(filter, origin),
  };
}

/** Reads the access log of a GatewayPolicy; `server` is that of `otlp`. */
export function readKubernetesAccessLog(
  { filter, otlp = {}, attributes = {} }: KubernetesAccessLog,
  server: DestinationConfig | undefined,
  origin: Origin,
): AccessLogConfig {
  const at = childOf(origin, "otlp");
  return {
    collector: server && readKubernetesCollector(otlp, "GRPC", server, LOGS_PATH),
    records: {
      filter: readFilter(otlp.filter, at),
      fields: otlp.attributes && readAttributes(otlp.attributes, at),
      capture: otlp.capture && readKubernetesCapture(otlp.capture, childOf(at, "capture")),
    },
    filter: readFilter(filter, origin),
    ...readAttributes(attributes, origin),
    origin,
  };
}

function readAttributes(
  { remove, add }: NonNullable<KubernetesAccessLog["attributes"]>,
  origin: Origin,
): Pick<AccessLogConfig, "remove" | "add" | "origin"> {
  const at = childOf(origin, "attributes");
  return {
    remove: names(remove, childOf(at, "remove")),
    add: (add ?? []).map(({ name, expression: text }, index) => ({
      name,
      text,
      origin: childOf(at, "add", index, "expression"),
    })),
    origin: at,
  };
}

/** Reads the log levels of `config.logging`. */
export function readLogLevels(
  logging: LoggingValue | undefined,
  origin: Origin,
): readonly LevelsConfig[] {
  const { level } = logging ?? {};
  if (level === undefined) return [];
  const at = childOf(origin, "level");
  if (typeof level === "string") return [[{ text: level, origin: at }]];
  return [level.map((text, index) => ({ text, origin: childOf(at, index) }))];
}

function names(list: readonly string[] | undefined, origin: Origin): AccessLogConfig["remove"] {
  return (list ?? []).map((name, index) => ({ name, origin: childOf(origin, index) }));
}
