import { type ExpressionConfig, resolveExpression } from "../backends/parts/expressions.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { trafficText } from "../model/traffic.ts";
import { parseTimer } from "../schema/duration.ts";
import { expression, type Infer, inPhase, integer, list, object } from "../schema/schema.ts";
import { bothForms, durationOfForms, formFields } from "../schema/two-forms.ts";
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
  /** Condition for requests that may be sent again; `undefined` for all. */
  readonly precondition: CompiledExpression | undefined;
  /** Condition for responses that are retried in addition to those of `codes`. */
  readonly condition: CompiledExpression | undefined;
}

/** Traffic whose conditions are evaluated, for messages. */
const RETRIED = trafficText(["forwards", "llmCalls"]);

const CODES = "write codes: [502, 503]; connection failures and timeouts are always retried";

/** Hints for statuses of gRPC, by the HTTP status that each counts as. */
const GRPC_STATUSES = Object.fromEntries(
  Object.entries({ UNAVAILABLE: 503, RESOURCE_EXHAUSTED: 429, DEADLINE_EXCEEDED: 504 }).map(
    ([name, status]) => [name, `write ${status}, which stands for the gRPC status ${name}`],
  ),
);

const fields = {
  attempts: bothForms(integer("Number of retries.", 0, 255), { file: { default: 1 } }),
  backoff: durationOfForms("Delay before each retry.", {}, { file: { default: "0s" } }),
  codes: bothForms(
    list(integer("A status.", 400, 599, { misplacedFieldHints: GRPC_STATUSES }), {
      description:
        "Statuses that are retried, in addition to connection failures, incomplete responses and timeouts. gRPC calls that fail before their first message count with the equivalent HTTP status: 503 for UNAVAILABLE, 429 for RESOURCE_EXHAUSTED, 504 for DEADLINE_EXCEEDED.",
    }),
    { file: { maxItems: 64 } },
  ),
};

const conditions = {
  precondition: expression(
    'Condition for requests that may be retried: `request.method == "GET"`.',
  ),
  condition: inPhase(
    "response",
    expression(
      "Condition on status and headers for responses that are retried in addition to those of `codes`.",
    ),
  ),
};

const schema = object(
  { ...formFields("file", fields), ...conditions },
  {
    misplacedFieldHints: {
      ...{ retryOn: CODES, statusCodes: CODES, on: CODES },
      perTryTimeout: "write timeout: { backendRequestTimeout: 5s } next to retry",
    },
    description:
      "Retries failed requests, including those that the backend may have processed: restrict them with `precondition`. A request that could not be sent always goes to another backend of the route.",
    examples: [{ attempts: 2, backoff: "100ms", codes: [502, 503] }],
  },
);

const manifestFields = (maxAttempts: number) => ({
  ...formFields("manifest", fields),
  attempts: { ...fields.attempts.manifest, maximum: maxAttempts },
});

const RETRIES = "Retries failed requests.";

const kubernetesSchema = object(
  { ...manifestFields(1000), ...conditions },
  { description: RETRIES },
);

/** Schema of Gateway API's `HTTPRouteRetry`, which does not limit the attempts. */
const ruleSchema = object(manifestFields(Number.MAX_SAFE_INTEGER), { description: RETRIES });

/** Retries failed requests (Gateway API HTTPRouteRetry). */
export const retry: Policy<
  "retry",
  RetryConfig,
  RetryNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "retry",
  summary:
    "retries requests when the backend fails or responds with a listed status; bodies are buffered for this up to 64 KiB, for LLMs entirely; of MCP, only read-only requests (lists, `initialize`, reads) and requests that could not be sent",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["forwards", "mcpServers", "llmCalls"],
    actsOnCall: true,
  },
  names: ["retry", "noRetry", "retryApi", "mayRetry", "wantsRetry"],
  lowering: {
    merge: "replace",
    lower: lowerRetry,
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
  },
  kubernetes: {
    field: "traffic.retry",
    ruleField: "retry",
    schema: kubernetesSchema,
    ruleSchema,
    lower: (value, { origin }) => lowerRetry(value, origin),
  },
};

function lowerRetry(given: Infer<typeof schema>, origin: Origin): RetryConfig {
  const expressionOf = (key: "precondition" | "condition"): ExpressionConfig | undefined => {
    const text = given[key];
    return text === undefined ? undefined : { text, origin: childOf(origin, key) };
  };
  return {
    attempts: given.attempts ?? 1,
    backoff: Math.round(parseTimer(given.backoff ?? "0s") ?? 0),
    codes: given.codes ?? [],
    precondition: expressionOf("precondition"),
    condition: expressionOf("condition"),
  };
}
