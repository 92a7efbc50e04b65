import { type ExpressionConfig, resolveExpression } from "../backends/parts/expressions.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { span } from "../manifests/field-types.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { trafficText } from "../model/traffic.ts";
import { parseTimer } from "../schema/duration.ts";
import { duration, expression, type Infer, integer, list, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `retry` as configured. */
interface RetryConfig {
  readonly attempts: number;
  /** Milliseconds. */
  readonly backoff: number;
  readonly codes: readonly number[];
  readonly precondition: ExpressionConfig | undefined;
  readonly condition: ExpressionConfig | undefined;
}

/** `retry` resolved. */
interface RetryNode {
  readonly attempts: number;
  readonly backoff: number;
  readonly codes: readonly number[];
  /** Which requests may be sent again; undefined: all. */
  readonly precondition: CompiledExpression | undefined;
  /** Which responses are tried again besides those of `codes`. */
  readonly condition: CompiledExpression | undefined;
}

/** What conditions read. */
const RETRIED = trafficText(["forwards", "llmCalls"]);

const CODES = "write codes: [502, 503]; failures to connect and timeouts always are tried again";

const schema = object(
  {
    attempts: integer("Attempts after the first one.", 0, 255, { default: 1 }),
    backoff: duration("The pause before each of them.", { default: "0s" }),
    codes: list(integer("A status.", 400, 599), {
      maxItems: 64,
      description:
        "Statuses that are tried again; failures to connect, broken responses and timeouts always are. Calls of gRPC that fail before their first message have the status of HTTP that says the same: 503 is UNAVAILABLE, 429 RESOURCE_EXHAUSTED, 504 DEADLINE_EXCEEDED.",
    }),
    precondition: expression('Which requests may be sent again: `request.method == "GET"`.'),
    condition: expression(
      "Which responses are tried again besides those of `codes`, by status and headers.",
    ),
  },
  {
    misplacedFieldHints: {
      ...{ retryOn: CODES, statusCodes: CODES, on: CODES },
      perTryTimeout: "write timeout: { backendRequestTimeout: 5s } beside it",
    },
    description:
      "Sends a failed request again, also one that was sent already: `precondition` says which. A request that could not be sent goes to another backend of the route in any case.",
    examples: [{ attempts: 2, backoff: "100ms", codes: [502, 503] }],
  },
);

const kubernetesSchema = object(
  {
    codes: list(integer("A status of the backend.", 400, 599), {
      description:
        "Statuses after which it is tried again; calls of gRPC have the status of HTTP that says the same: 503 is UNAVAILABLE.",
    }),
    attempts: integer("How often it is tried again.", 0, 1000),
    backoff: span("Before the next attempt."),
  },
  { description: "Trying again after a failure." },
);

/** Gateway API `HTTPRouteRetry`. */
const ruleSchema = object({
  codes: list(integer("A status.", 400, 599), {
    description: "Statuses after which it is tried again.",
  }),
  attempts: integer("How often.", 0, Number.MAX_SAFE_INTEGER),
  backoff: span("Before the next one."),
});

/** Sends a request again that failed (Gateway API HTTPRouteRetry). */
export const retry: Policy<
  "retry",
  RetryConfig,
  RetryNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "retry",
  summary:
    "sends a request again when the backend fails or answers with a listed status; bodies up to 64 KiB are kept for it, those for models whole; of MCP what asks and changes nothing (lists, `initialize`, reads), and whatever could not be sent",
  scope: ["route"],
  schema,
  actsOn: ["forwards", "mcpServers", "llmCalls"],
  names: ["retry", "noRetry", "retryApi", "mayRetry", "wantsRetry"],
  actsOnCall: true,
  merge: "replace",
  lower: lowerRetry,
  kubernetes: {
    field: "traffic.retry",
    ruleField: "retry",
    schema: kubernetesSchema,
    ruleSchema,
    lower: (value, { origin }) => lowerRetry(value, origin),
  },
  resolve: (config, context) => {
    const { precondition, condition } = config;
    if (context.route.protocol === "mcp") {
      for (const key of ["precondition", "condition"] as const) {
        const expression = config[key];
        if (expression === undefined) continue;
        const params = { field: `"${key}"`, actsOn: RETRIED, found: "requests to MCP servers" };
        context.diagnostics.report("misplaced-field", keyPlace(expression.origin), params);
      }
    }
    const compile = (each: ExpressionConfig | undefined, phase: "request" | "response") =>
      each && resolveExpression(each, { phase, slot: "filter" }, context.diagnostics);
    const before = compile(precondition, "request");
    const after = compile(condition, "response");
    const readsBody = after?.reads.some(
      ([root, member]) => root === "response" && member === "body",
    );
    if (condition !== undefined && readsBody === true) {
      context.diagnostics.report("head-only", condition.origin, {});
      return undefined;
    }
    const isComplete =
      (precondition === undefined) === (before === undefined) &&
      (condition === undefined) === (after === undefined);
    return isComplete ? { ...config, precondition: before, condition: after } : undefined;
  },
};

function lowerRetry(given: Infer<typeof schema>, origin: Origin): RetryConfig {
  const said = (key: "precondition" | "condition"): ExpressionConfig | undefined => {
    const text = given[key];
    return text === undefined ? undefined : { text, origin: childOf(origin, key) };
  };
  return {
    attempts: given.attempts ?? 1,
    backoff: Math.round(parseTimer(given.backoff ?? "0s") ?? 0),
    codes: given.codes ?? [],
    precondition: said("precondition"),
    condition: said("condition"),
  };
}
