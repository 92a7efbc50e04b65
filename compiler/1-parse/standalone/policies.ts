import { backendPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { type Infer, object, type Schema, unsupported } from "../../schema/schema.ts";
import { aliasSchemas } from "./policy-aliases.ts";

/** A route's `policies` as the schema lets them through. */
export type RoutePolicies = Infer<ReturnType<typeof routePoliciesSchema>>;

/** The schema of a route's `policies`. */
export function routePoliciesSchema() {
  return object(
    {
      ...builtPolicies("route"),
      ...backendPolicySchemas(),
      ...UNSUPPORTED_POLICIES,
    },
    {
      hasParts: true,
      misplacedFieldHints: OF_THE_GATEWAY,
      description:
        "What happens to a request before it reaches the backend, in the gateway's fixed order.",
    },
  );
}

/** The schema of a listener's `policies`. */
export function listenerPoliciesSchema() {
  return object(builtPolicies("listener"), {
    hasParts: true,
    misplacedFieldHints: OF_THE_GATEWAY,
    description:
      "What happens to every request before its route is chosen; it may change which one that is.",
  });
}

function builtPolicies(scope: "route" | "listener"): Readonly<Record<string, Schema>> {
  const built = policies.filter((policy) => policy.scope.includes(scope));
  return {
    ...Object.fromEntries(built.map((policy) => [policy.kind, policy.schema])),
    ...aliasSchemas(built.map(({ kind }) => kind)),
  };
}

/** Where people look for policies that stand at no level of their own. */
export const policiesElsewhere: Readonly<Record<string, string>> = hintFor(
  "it stands under `policies`, of a route, a listener, `llm` or `mcp`",
  policies.flatMap(({ kind, aliases = [] }) => [kind, ...aliases.map(([key]) => key)]),
);

/** What people look for among the policies of a route. */
const OF_THE_GATEWAY = {
  audit: "it is of the whole gateway: config: { logging: { audit: {...} } }",
  logging: "it is of the whole gateway: config: { logging: {...} }",
  accessLog: "it is of the whole gateway: frontendPolicies: { accessLog: {...} }",
  tracing: "it is of the whole gateway: frontendPolicies: { tracing: {...} }",
};

const UNSUPPORTED_POLICIES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries({
    mcpGuardrails: "MCP guardrails",
    buffer: "buffering",
    delay: "delays",
  }).map(([key, what]) => [key, unsupported(what)]),
);
