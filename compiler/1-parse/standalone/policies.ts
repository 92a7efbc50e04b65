import { policies } from "../../policies/index.ts";
import { notYet, object, type Schema } from "../../schema/schema.ts";
import { backendPolicySchemas } from "./backend-policies.ts";
import { spellingSchemas } from "./policy-aliases.ts";

/** The schema of a route's `policies`. */
export function routePoliciesSchema(): Schema {
  return object(
    {
      ...builtPolicies("route"),
      ...backendPolicySchemas(),
      ...LATER_POLICIES,
    },
    {
      description:
        "What happens to a request before it reaches the backend, in the gateway's fixed order.",
    },
  );
}

/** The schema of a listener's `policies`. */
export function listenerPoliciesSchema(): Schema {
  return object(
    {
      ...builtPolicies("listener"),
      ...Object.fromEntries(
        Object.entries(LATER_POLICIES).filter(([key]) => LATER_ON_LISTENERS.includes(key)),
      ),
    },
    {
      description:
        "What happens to every request before its route is chosen; it may change which one that is.",
    },
  );
}

function builtPolicies(scope: "route" | "listener"): Readonly<Record<string, Schema>> {
  const built = policies.filter((policy) => policy.scope.includes(scope));
  return {
    ...Object.fromEntries(built.map((policy) => [policy.kind, policy.schema])),
    ...spellingSchemas(built.map(({ kind }) => kind)),
  };
}

const LATER_POLICIES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries({
    mcpGuardrails: "MCP guardrails",
    oidc: "browser login",
    extAuthz: "external authorization",
    extAuth: "external authorization",
    extProc: "external processing",
    remoteRateLimit: "global rate limits",
    buffer: "buffering",
    delay: "delays",
    a2a: "A2A proxying",
    ai: "LLM policies",
  }).map(([key, what]) => [key, notYet(what)]),
);

/** Those of them that may stand on a listener. */
const LATER_ON_LISTENERS: readonly string[] = [
  "oidc",
  "extAuthz",
  "extAuth",
  "extProc",
  "remoteRateLimit",
];
