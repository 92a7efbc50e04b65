import { promptGuardSchema } from "../../backends/ai/guard-file-form.ts";
import { backendPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { type Infer, object, orEmpty, type Schema } from "../../schema/schema.ts";
import { aliasSchemas } from "./policy-aliases.ts";

/** Type of valid `policies` of a route. */
export type RoutePolicies = Infer<ReturnType<typeof routePoliciesSchema>>;

/** Returns the schema of a route's `policies`. */
export function routePoliciesSchema() {
  return orEmpty(object(routePolicies(), REQUEST_POLICIES));
}

/** Returns the schema of the `policies` of `llm`. */
export function llmDoorPoliciesSchema() {
  const guardrails = {
    ...promptGuardSchema(),
    description: "Guards of all models, which run before those of a model.",
  };
  return orEmpty(object({ ...routePolicies(), guardrails }, REQUEST_POLICIES));
}

function routePolicies() {
  return { ...builtPolicies("route"), ...backendPolicySchemas() };
}

/** Hint for protocols that need no policy. */
const WEB_SOCKETS = "remove it: WebSockets pass without a setting";

/** Hints for settings of the gateway that users write among the policies of a route. */
const OF_THE_GATEWAY = {
  audit: "configure it for the whole gateway: config: { logging: { audit: {...} } }",
  logging: "configure it for the whole gateway: config: { logging: {...} }",
  accessLog: "configure it for the whole gateway: frontendPolicies: { accessLog: {...} }",
  tracing: "configure it for the whole gateway: frontendPolicies: { tracing: {...} }",
};

/** Hints for words of other products, with the policy to write. */
const OF_OTHERS = {
  ...hintFor("write requestHeaderModifier: { set: { NAME: VALUE } }", ["requestHeaders"]),
  ...hintFor("write responseHeaderModifier: { set: { NAME: VALUE } }", [
    ...["responseHeaders", "addHeaders", "securityHeaders"],
  ]),
  ...hintFor(
    "write requestHeaderModifier or responseHeaderModifier: { set: { NAME: VALUE } }; transformations computes values",
    ["headers"],
  ),
  ...hintFor("write urlRewrite: { path: { prefix: / } }", [
    ...["rewrite", "stripPrefix", "pathRewrite", "rewritePath", "prefixRewrite"],
  ]),
  ...hintFor("write retry: { attempts: 3 }", ["retries", "retryPolicy", "retryAttempts"]),
  ...hintFor(
    "write health: { active: { path: /healthz } } for checks, eviction: {...} for ejection",
    [...["healthCheck", "healthChecks", "circuitBreaker", "outlierDetection"]],
  ),
  ...hintFor("write delay: { duration: 2s }", ["fault", "faultInjection"]),
  ...hintFor("write authorization: { rules: [EXPRESSION] }", [
    ...["accessControl", "acl", "rbac", "permissions"],
  ]),
  ...hintFor("write sessionPersistence: { type: Cookie }", [
    ...["sticky", "stickySession", "stickySessions", "sessionCookie", "cookie"],
  ]),
  ...hintFor("write buffer: { request: { maxBytes: 1Mi } }", [
    ...["maxBodySize", "bodyLimit", "bodySize", "clientMaxBodySize", "maxRequestSize"],
  ]),
  ...hintFor("bodies pass unchanged: let the server compress its responses", [
    ...["compress", "compression", "gzip", "brotli"],
  ]),
  ...hintFor(
    "write authorization: { rules: ['cidr(\"10.0.0.0/8\").containsIP(source.address)'] }",
    ["ipAllowlist", "ipAllowList", "ipWhitelist", "allowedIPs", "ipRestriction", "ipFilter"],
  ),
  ...hintFor("use a limit: localRateLimit: [{ budget: 50, unit: Months }]", ["budget", "budgets"]),
  ...hintFor("responses of models are cached by ai: { cache: { ttl: 10m } }", ["cache", "caching"]),
};

/** Keywords of policies on requests to backends. */
const REQUEST_POLICIES = {
  hasParts: true,
  misplacedFieldHints: {
    ...OF_THE_GATEWAY,
    ...OF_OTHERS,
    ...hintFor(WEB_SOCKETS, ["websocket", "websockets", "upgrade"]),
  },
  description: "Policies that run before a request reaches the backend, in a fixed order.",
} as const;

/** Returns the schema of a listener's `policies`. */
export function listenerPoliciesSchema() {
  return object(listenerPolicyFields(), {
    hasParts: true,
    misplacedFieldHints: { ...ofRoutes, ...OF_THE_GATEWAY },
    description:
      "Policies that run before the route of a request is chosen, and can affect that choice.",
  });
}

/** Hints for policies that apply to a chosen route. */
const ofRoutes = hintFor(
  "it applies after the route is chosen: write it under `policies` of a route, `llm` or `mcp`",
  policies.filter(({ scope }) => !scope.includes("listener")).map(({ kind }) => kind),
);

/** Returns the policies of a listener by name. */
export function listenerPolicyFields() {
  return builtPolicies("listener");
}

function builtPolicies(scope: "route" | "listener"): Readonly<Record<string, Schema>> {
  const built = policies.filter((policy) => policy.scope.includes(scope));
  return {
    ...Object.fromEntries(built.map((policy) => [policy.kind, policy.schema])),
    ...aliasSchemas(built.map(({ kind }) => kind)),
  };
}

/** Hints for policies that users write outside `policies`. */
export const policiesElsewhere: Readonly<Record<string, string>> = hintFor(
  "write it under `policies` of a route, a listener, `llm` or `mcp`",
  policies.flatMap(({ kind, aliases = [] }) => [kind, ...aliases.map(([key]) => key)]),
);
