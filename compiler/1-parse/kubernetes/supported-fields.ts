import { policies } from "../../policies/index.ts";
import type { KubernetesForm } from "../../policies/policy.ts";
import type { SupportedFields } from "./schemas/backend.ts";
import type { SupportedRuleFields } from "./schemas/routes.ts";

/** The fields of the cluster form that this version enforces: those that a policy claims. */
export interface KubernetesFields {
  /** Of a GatewayPolicy: `traffic.cors`. */
  readonly policy: SupportedFields;
  /** Of a GatewayBackend's own policies: `mcp.authorization`. */
  readonly backend: SupportedFields;
  /** Of an HTTPRoute's rule. */
  readonly rule: SupportedRuleFields;
}

/** Fields of the frontend, which is no policy of a route. */
const FRONTEND = ["frontend.tcp", "frontend.tls", "frontend.http", "frontend.accessLog"];

/** Fields of the backend section that say how a backend is reached: no policies of a route either. */
const CONNECTION = ["tcp", "tls", "http", "auth.key", "auth.secretRef", "auth.passthrough"];

/** What is built, as the policies say. */
export function supportedFields(): KubernetesFields {
  const claimed = policies.flatMap(({ kubernetes }): readonly KubernetesForm<unknown>[] =>
    kubernetes === undefined ? [] : [kubernetes],
  );
  const fields = claimed.map(({ field }) => field);
  const inRules = claimed.flatMap(({ filter }) => filter ?? []);
  const ofRules = claimed.flatMap(({ ruleField }) => ruleField ?? []);
  const backend = fields
    .filter((field) => field.startsWith("backend."))
    .map((field) => field.slice("backend.".length));
  return {
    policy: new Set([...fields, ...FRONTEND, ...CONNECTION.map((name) => `backend.${name}`)]),
    backend: new Set([...backend, ...CONNECTION]),
    rule: { filters: new Set(inRules), fields: new Set(ofRules) },
  };
}
