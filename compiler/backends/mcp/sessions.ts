import type { Origin } from "../../diagnostics/diagnostic.ts";
import { parseTimer } from "../../schema/duration.ts";
import { type Infer, integer, object, type Schema } from "../../schema/schema.ts";
import { durationOfForms } from "../../schema/two-forms.ts";

/** Limits of sessions that hold resources in the process; `undefined` fields have defaults. */
export interface McpSessionsConfig {
  /** Milliseconds. */
  readonly idleTimeout: number | undefined;
  readonly max: number | undefined;
  readonly maxPerCaller: number | undefined;
  readonly origin: Origin;
}

const idleTimeout = durationOfForms(
  "How long a session without a request or an open stream is kept open; 30m by default.",
  { minimumDuration: "1s" },
);

/** Schemas of `sessions`. */
export const sessionsSchemas = {
  file: sessionsSchema(idleTimeout.file),
  manifest: sessionsSchema(idleTimeout.manifest),
};

function sessionsSchema(idleTimeout: Schema<string>) {
  return object(
    {
      idleTimeout,
      max: integer(
        "Maximum number of sessions (by default 100 if servers are child processes, or else 1000). Beyond it, a session of the caller with the most sessions is closed.",
        1,
        100_000,
      ),
      maxPerCaller: integer(
        "Maximum number of sessions per caller, identified by identity or else by client address. Half of `max` by default.",
        1,
        100_000,
      ),
    },
    {
      atLeastOneOf: ["idleTimeout", "max", "maxPerCaller"],
      checks: [
        {
          message: '"maxPerCaller" cannot exceed "max"',
          field: "maxPerCaller",
          holds: ({ max, maxPerCaller }) =>
            typeof max !== "number" || typeof maxPerCaller !== "number" || maxPerCaller <= max,
          cel: "!has(self.max) || !has(self.maxPerCaller) || self.maxPerCaller <= self.max",
        },
      ],
      description:
        "Limits sessions with stdio and SSE servers, each of which holds a process or a connection. Worker threads divide the limits equally.",
    },
  );
}

/** Converts a validated `sessions` to canonical form. */
export function lowerSessions(
  value: Infer<ReturnType<typeof sessionsSchema>> | undefined,
  origin: Origin,
): McpSessionsConfig | undefined {
  if (value === undefined) return undefined;
  const { idleTimeout, max, maxPerCaller } = value;
  const idle = idleTimeout === undefined ? undefined : parseTimer(idleTimeout);
  return { idleTimeout: idle, max, maxPerCaller, origin };
}
