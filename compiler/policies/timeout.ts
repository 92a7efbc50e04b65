import type { ConfigValue } from "../1-parse/values.ts";
import { parseTimer } from "../schema/duration.ts";
import { duration, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** Milliseconds from the sending of a request to the end of its response; undefined: no limit. */
export interface Timeouts {
  /** For all attempts together. */
  readonly request: number | undefined;
  /** For one attempt. */
  readonly attempt: number | undefined;
}

/** How long the backend may take (Gateway API HTTPRouteTimeouts). */
export const timeout: Policy<"timeout", Timeouts, Timeouts> = {
  kind: "timeout",
  summary:
    "limits the time to the end of the response, for all attempts together and for each one (504)",
  scope: ["route"],
  schema: object(
    {
      requestTimeout: duration("For all attempts together, from the first byte sent."),
      request: duration("The same, by its name in the cluster resources."),
      backendRequestTimeout: duration("For each attempt."),
      backendRequest: duration("The same, by its name in the cluster resources."),
    },
    {
      atLeastOneOf: ["requestTimeout", "request", "backendRequestTimeout", "backendRequest"],
      description: "How long the backend may take; 0 is no limit.",
    },
  ),
  protocol: "http",
  aliases: [["timeouts"]],
  names: ["timeout"],
  actsOnCall: true,
  merge: "replace",
  read: readTimeouts,
  kubernetes: { field: "traffic.timeouts", ruleField: "timeouts", read: readTimeouts },
  resolve: (config) => config,
};

function readTimeouts(value: ConfigValue): Timeouts {
  const given = value as Readonly<Record<string, string>>;
  return {
    request: limit(given.requestTimeout ?? given.request),
    attempt: limit(given.backendRequestTimeout ?? given.backendRequest),
  };
}

/** Gateway API: zero disables a timeout. */
function limit(text: string | undefined): number | undefined {
  const milliseconds = text === undefined ? undefined : parseTimer(text);
  return milliseconds === undefined || milliseconds === 0
    ? undefined
    : Math.max(1, Math.round(milliseconds));
}
