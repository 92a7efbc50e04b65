import { span } from "../manifests/field-types.ts";
import { parseDuration, parseTimer } from "../schema/duration.ts";
import { duration, eitherField, type Infer, object, type ValueCheck } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** Milliseconds from the sending of a request to the end of its response; undefined: no limit. */
export interface Timeouts {
  /** For all attempts together. */
  readonly request: number | undefined;
  /** For one attempt. */
  readonly attempt: number | undefined;
}

const schema = object(
  {
    requestTimeout: duration("For all attempts together, from the first byte sent."),
    request: duration("The same, by its name in the cluster resources.", {
      aliasOf: "requestTimeout",
    }),
    backendRequestTimeout: duration("For each attempt."),
    backendRequest: duration("The same, by its name in the cluster resources.", {
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
    description: "How long the backend may take; 0 is no limit.",
  },
);

const kubernetesSchema = object({
  request: span("From the first byte sent to the last one received."),
});

/** Gateway API `HTTPRouteTimeouts`. */
const ruleSchema = object(
  {
    request: span("From the request's arrival to the end of its response."),
    backendRequest: span("For one attempt at the backend."),
  },
  {
    checks: [isNoLonger("backendRequest", "request")],
  },
);

/** How long the backend may take (Gateway API HTTPRouteTimeouts). */
export const timeout: Policy<
  "timeout",
  Timeouts,
  Timeouts,
  Infer<typeof schema>,
  Infer<typeof ruleSchema>
> = {
  kind: "timeout",
  summary:
    "limits the time to the end of the response, for all attempts together and for each one (504); of MCP to the end of the response to a message: streams of their own have no end",
  scope: ["route"],
  schema,
  actsOn: ["forwards", "llmCalls", "mcp"],
  aliases: [["timeouts"]],
  names: ["timeout"],
  actsOnCall: true,
  merge: "replace",
  lower: lowerTimeouts,
  kubernetes: {
    field: "traffic.timeouts",
    ruleField: "timeouts",
    schema: kubernetesSchema,
    ruleSchema,
    lower: lowerTimeouts,
  },
  resolve: (config) => config,
};

function lowerTimeouts(given: Infer<typeof schema>): Timeouts {
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

/** Gateway API: zero is no limit. What is no duration is another mistake. */
/** The time of one attempt ends before that of the request does, or says nothing. */
function isNoLonger(attempt: string, request: string): ValueCheck {
  return {
    message: "one attempt takes at most as long as the request",
    field: attempt,
    holds: (value) => isWithin(value[attempt], value[request]),
    cel: `!(has(self.${request}) && has(self.${attempt}) && duration(self.${request}) != duration('0s') && duration(self.${attempt}) > duration(self.${request}))`,
  };
}

function isWithin(short: unknown, long: unknown): boolean {
  const [attempt, request] = [short, long].map((text) => parseDuration(String(text)));
  return attempt === undefined || request === undefined || request === 0 || attempt <= request;
}
