import { didYouMean, message } from "./message.ts";

/** Diagnostics about logs. */
export const logMessages = {
  "unknown-log-field": message<{
    name: string;
    suggestion: string | undefined;
    known: string;
  }>({
    severity: "warning",
    text: ({ name }) => `access lines have no field "${name}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `fields of every line: ${known}`,
    explanation:
      "`remove` removes fields from access lines. A misspelled name removes nothing, so a value that should stay " +
      "private would be logged.",
  }),
  "log-field-name": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a valid name of a log field`,
    hint: () => 'use letters, digits, "_", "-", ".", "/", ":" and "@", such as "user.team"',
    explanation:
      "Access lines in text format consist of NAME=VALUE pairs separated by spaces. A name with spaces, quotes or `=` " +
      "would make them ambiguous.",
  }),
  "duplicate-log-field": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `the log field "${name}" is added twice`,
    hint: () => "remove one of them",
    explanation:
      "A line has one field of each name, so one of the two expressions would be ignored.",
  }),
  "reserved-log-field": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is a reserved field that every line already has`,
    hint: ({ name }) => `give the field another name, such as "request.${name}"`,
    explanation:
      "A JSON line begins with `level`, `time` and `scope`. Parsers disagree on which of two members with the same " +
      "name they use.",
  }),
  "log-filter-twice": message<Record<never, never>>({
    severity: "warning",
    text: () =>
      '"config.logging.filter" has no effect: "frontendPolicies.accessLog.filter" replaces it',
    hint: () => "remove one of them, or join them with &&",
    explanation:
      "Both select the requests that are logged. `frontendPolicies.accessLog` has precedence over the settings of the " +
      "process: added and removed fields are combined, but its filter replaces the other one.",
  }),
  "log-level": message<{ word: string; levels: string }>({
    severity: "error",
    text: ({ word }) => `"${word}" is not a log level`,
    hint: ({ levels }) => `levels: ${levels}; for one part of the log: request=warn`,
    explanation:
      "Log levels have the syntax of RUST_LOG: a level for everything and levels for single parts, separated by commas " +
      "(`info,request=off,connection=debug`). Filters on spans and their fields are not supported.",
  }),
  "lines-not-written": message<{ level: string }>({
    severity: "warning",
    text: ({ level }) =>
      `requests are not logged: access lines have the level "info", and the configured level is "${level}"`,
    hint: () => "write info,gateway=warn to reduce only the log of the process",
    explanation:
      "A level above `info` for `request` (or for everything) disables the access log: neither lines nor OTLP records " +
      "are written, whatever `accessLog` configures. RUST_LOG can override the level when the gateway starts.",
  }),
  "audit-file-read-only": message<{ file: string }>({
    severity: "warning",
    text: ({ file }) => `pods cannot write the audit log "${file}"`,
    hint: () =>
      "mount a volume there with a deployment overlay, or remove `file` to write audit lines to the access log",
    explanation:
      "The file system of the gateway's container is read-only except for /tmp, which is deleted with the pod. A " +
      "gateway that cannot write its audit log does not start. An overlay can mount a volume at the file's folder.",
  }),
  "log-module": message<{ module: string; suggestion: string | undefined; known: string }>({
    severity: "error",
    text: ({ module }) => `the log has no part "${module}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `parts: ${known}`,
    explanation:
      "`request` is the access log, `gateway` is the log of the process, and `connection` (at `debug`) logs why " +
      "connections were closed. Names of modules and libraries of agentgateway refer to the part that does their work; " +
      "any other name would silently have no effect.",
  }),
  "log-credential": message<{ what: string; field: string }>({
    severity: "warning",
    text: ({ what, field }) => `the log field "${field}" would show ${what}, which may be a secret`,
    hint: () => "log the verified identity instead: jwt.sub, basicAuth.username, request.path",
    explanation:
      "Anyone who reads the log could use the credentials in it, so tokens, keys, cookies and query strings are " +
      "excluded from access lines. A header or query string that an expression adds is logged unchanged.",
  }),
};
