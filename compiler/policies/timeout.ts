import { span } from "../manifests/field-types.ts";
import { parseDuration, parseTimer } from "../schema/duration.ts";
import { duration, type Infer, object, type ValueCheck } from "../schema/schema.ts";
import { eitherField } from "../schema/value-checks.ts";
import type { Policy } from "./policy.ts";

/** Milliseconds from sending a request to the end of its response; `undefined` for no limit. */
export interface Timeouts {
  /** Limit for all attempts together. */
  readonly request: number | undefined;
  /** Limit for each attempt. */
  readonly attempt: number | undefined;
}

const schema = object(
  {
    requestTimeout: duration("Timeout for all attempts together, from the first byte sent."),
    request: duration("Alias of `requestTimeout`, as spelled in manifests.", {
      aliasOf: "requestTimeout",
    }),
    backendRequestTimeout: duration("Timeout for each attempt."),
    backendRequest: duration("Alias of `backendRequestTimeout`, as spelled in manifests.", {
      aliasOf: "backendRequestTimeout",
    }),
  },
  {
    atLeastOneOf: ["requestTimeout", "request", "backendRequestTimeout", "backendRequest"],
    checks: [
      eitherField("requestTimeout", "request"),
      eitherField("backendRequestTimeout", "backendRequest"),
      ...["requestTimeout", "request"].flatMap((request) =>
        ["backendRequestTimeout", "backendRequest"].map((attempt) => isNoLonger(attempt, request)),
      ),
    ],
    description: "Limits how long the backend may take; 0 means no limit.",
  },
);

const kubernetesSchema = object({
  request: span(
    "Timeout for all attempts together, from the first byte sent to the last one received.",
  ),
});

/** Schema of Gateway API's `HTTPRouteTimeouts`. */
const ruleSchema = object(
  {
    request: span("Timeout from the arrival of the request to the end of its response."),
    backendRequest: span("Timeout for each attempt."),
  },
  {
    checks: [isNoLonger("backendRequest", "request")],
  },
);

/** Limits how long the backend may take (Gateway API HTTPRouteTimeouts). */
export const timeout: Policy<
  "timeout",
  Timeouts,
  Timeouts,
  Infer<typeof schema>,
  Infer<typeof ruleSchema>
> = {
  kind: "timeout",
  summary:
    "limits the time to the end of the response, for all attempts together and for each one (504); for MCP, the time to the response to a message, but not server-initiated streams",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["forwards", "llmCalls", "mcp"],
    actsOnCall: true,
  },
  aliases: [["timeouts"]],
  names: ["timeout"],
  lowering: {
    merge: "replace",
    lower: lowerTimeouts,
    resolve: (config) => config,
  },
  kubernetes: {
    field: "traffic.timeouts",
    ruleField: "timeouts",
    schema: kubernetesSchema,
    ruleSchema,
    lower: lowerTimeouts,
  },
};

function lowerTimeouts(given: Infer<typeof schema>): Timeouts {
  return {
    request: limit(given.requestTimeout ?? given.request),
    attempt: limit(given.backendRequestTimeout ?? given.backendRequest),
  };
}

/** Returns milliseconds; `undefined` for zero, which disables a timeout (Gateway API). */
function limit(text: string | undefined): number | undefined {
  const milliseconds = text === undefined ? undefined : parseTimer(text);
  return milliseconds === undefined || milliseconds === 0
    ? undefined
    : Math.max(1, Math.round(milliseconds));
}

/**
 * Returns the check that the timeout of an attempt does not exceed that of the request. Zero means no limit
 * (Gateway API); invalid durations are reported elsewhere.
 */
function isNoLonger(attempt: string, request: string): ValueCheck {
  return {
    message: "the timeout of an attempt cannot exceed that of the request",
    field: attempt,
    holds: (value) => isWithin(value[attempt], value[request]),
    cel: `!(has(self.${request}) && has(self.${attempt}) && duration(self.${request}) != duration('0s') && duration(self.${attempt}) > duration(self.${request}))`,
  };
}

function isWithin(short: unknown, long: unknown): boolean {
  const [attempt, request] = [short, long].map((text) => parseDuration(String(text)));
  return attempt === undefined || request === undefined || request === 0 || attempt <= request;
}
