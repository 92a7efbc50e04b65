import type { Origin } from "../../diagnostics/diagnostic.ts";
import { parseTimer } from "../../schema/duration.ts";
import { type Infer, integer, object, type Schema } from "../../schema/schema.ts";

/** Sessions that hold something open in the process; what is undefined is as by default. */
export interface McpSessionsConfig {
  /** Milliseconds. */
  readonly idleTimeout: number | undefined;
  readonly max: number | undefined;
  readonly maxPerCaller: number | undefined;
  readonly origin: Origin;
}

/** The shape of `sessions`; `idleTimeout` is a duration of the form it stands in. */
export function sessionsSchema(idleTimeout: Schema<string>) {
  return object(
    {
      idleTimeout,
      max: integer(
        "The most of them (100 by default where servers are child processes, else 1000). The caller with the most makes room.",
        1,
        100_000,
      ),
      maxPerCaller: integer(
        "The most of one caller: an identity, else a client address. Half of `max` by default.",
        1,
        100_000,
      ),
    },
    {
      atLeastOneOf: ["idleTimeout", "max", "maxPerCaller"],
      checks: [
        {
          message: "one caller has at most as many sessions as all of them",
          field: "maxPerCaller",
          holds: ({ max, maxPerCaller }) =>
            typeof max !== "number" || typeof maxPerCaller !== "number" || maxPerCaller <= max,
          cel: "!has(self.max) || !has(self.maxPerCaller) || self.maxPerCaller <= self.max",
        },
      ],
      description:
        "Sessions with stdio and SSE servers, which hold a process or a connection each.",
    },
  );
}

/** What a field of `sessions` says of its idle time, in both forms. */
export const IDLE_TIMEOUT =
  "How long a session stays without a request or an open stream. 30m by default.";

/** The canonical form of a validated `sessions`. */
export function lowerSessions(
  value: Infer<ReturnType<typeof sessionsSchema>> | undefined,
  origin: Origin,
): McpSessionsConfig | undefined {
  if (value === undefined) return undefined;
  const { idleTimeout, max, maxPerCaller } = value;
  const idle = idleTimeout === undefined ? undefined : parseTimer(idleTimeout);
  return { idleTimeout: idle, max, maxPerCaller, origin };
}
