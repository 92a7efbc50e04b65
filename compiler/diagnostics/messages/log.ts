import { didYouMean, message } from "./message.ts";

/** Logs that can't be as configured. */
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
      "`remove` leaves fields out of access lines. A misspelled name would leave nothing out, and what should not be " +
      "logged would be.",
  }),
  "log-field-name": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" can't be the name of a log field`,
    hint: () => 'use letters, digits, "_", "-", ".", "/", ":" and "@", such as "user.team"',
    explanation:
      "In text lines a field is NAME=VALUE between blanks: a name with blanks, quotes or `=` could be read as something " +
      "else.",
  }),
  "duplicate-log-field": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `the log field "${name}" is added twice`,
    hint: () => "remove one of them",
    explanation: "A line has one field of a name, so one of the two expressions would never count.",
  }),
  "reserved-log-field": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is what every line says of itself`,
    hint: ({ name }) => `give the field another name, such as "request.${name}"`,
    explanation:
      "A line in JSON begins with `level`, `time` and `scope`. A second member of one of these names would be read in its " +
      "place by some, and not by others.",
  }),
  "log-filter-twice": message<Record<never, never>>({
    severity: "warning",
    text: () => '"config.logging.filter" has no effect beside "frontendPolicies.accessLog.filter"',
    hint: () => "remove one of them, or join them with &&",
    explanation:
      "Both say which requests have a line. `frontendPolicies.accessLog` stands above the settings of the process; fields " +
      "that are added and left out are joined, but a filter replaces the other one.",
  }),
  "log-body": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" can't be read for the access log`,
    hint: () => "log a header, a claim or a field of the MCP or LLM call instead",
    explanation:
      "A line is written when all is over; by then bodies have passed through and are gone. Holding every body for the " +
      "log would cost its memory on each request, and bodies hold what must not be in logs.",
  }),
  "completion-not-kept": message<Record<never, never>>({
    severity: "error",
    text: () => '"llm.completion" can\'t be read: the text of a completion is not kept',
    hint: () => "read llm.responseModel, llm.outputTokens or another fact of the call",
    explanation:
      "Completions pass through as they are made, and when an expression could read one it has left. Holding every one " +
      "would cost its memory on each request.",
  }),
  "log-level": message<{ word: string; levels: string }>({
    severity: "error",
    text: ({ word }) => `"${word}" is no log level`,
    hint: ({ levels }) => `levels: ${levels}; of one part of the log: request=warn`,
    explanation:
      "Log levels are written as RUST_LOG has them: a level for everything, and levels of single parts, between commas " +
      "(`info,request=off,connection=debug`). Spans and fields of spans do not exist here.",
  }),
  "lines-not-written": message<{ level: string }>({
    severity: "warning",
    text: ({ level }) =>
      `requests have no lines: they are logged at "info", and the level is "${level}"`,
    hint: () => "write info,gateway=warn where only the process is to say less",
    explanation:
      "A level below `info` for `request` (or for all) leaves out the access log: neither lines nor records of OTLP are made, " +
      "whatever `accessLog` says. RUST_LOG may say otherwise where the gateway starts.",
  }),
  "audit-file-read-only": message<{ file: string }>({
    severity: "warning",
    text: ({ file }) => `pods can't write the audit log "${file}"`,
    hint: () =>
      "mount a volume there by the overlay deployment, or leave file out: lines then stand between those of the access log",
    explanation:
      "The file system of the gateway's container is read-only but for /tmp, which ends with the pod. A gateway that can't " +
      "write its audit log does not start. An overlay may mount a volume at the file's folder.",
  }),
  "log-module": message<{ module: string; suggestion: string | undefined; known: string }>({
    severity: "error",
    text: ({ module }) => `the log has no part "${module}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `parts: ${known}`,
    explanation:
      "`request` are the lines of requests, `gateway` is what the process says of itself, `connection` (at `debug`) why " +
      "connections were broken off. Identifiers of the reference's modules and libraries stand for the part that does their " +
      "work; any other name would silently set nothing.",
  }),
  "log-credential": message<{ what: string; field: string }>({
    severity: "warning",
    text: ({ what, field }) => `the log field "${field}" would show ${what}, which may be a secret`,
    hint: () => "log what a policy found out instead: jwt.sub, basicAuth.username, request.path",
    explanation:
      "Whoever reads the log could use what stands in it: tokens, keys, cookies and query strings are left out of access " +
      "lines for that reason. A header or a query string that an expression adds is written as it is.",
  }),
};
