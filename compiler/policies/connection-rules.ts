import {
  kubernetesRulesSchema,
  lowerKubernetesRules,
  lowerRules,
  type RuleConfig,
  rulesSchema,
} from "../backends/parts/rules.ts";
import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { type Infer, object } from "../schema/schema.ts";
import { type PolicyConfig, type PolicySettings, policyConfig } from "./index.ts";

/**
 * Rules for every client connection, in the form of rules for requests, with only the connection's own attributes
 * known.
 */
export type ConnectionRulesConfig = PolicyConfig<"authorization">;

/** The resolved form of `ConnectionRulesConfig`. */
export type ConnectionRulesSettings = PolicySettings["authorization"];

const DESCRIPTION =
  "Rules that decide who may connect, over `source` (address, port, client certificate). Evaluated once per connection before any data is read; denied connections are closed.";

/** Schema of `networkAuthorization` in a file. */
export const connectionRulesSchema = object(
  { rules: rulesSchema },
  { required: ["rules"], description: DESCRIPTION },
);

/** Schema of the same rules in manifests. */
export const kubernetesConnectionRulesSchema: typeof kubernetesRulesSchema = {
  ...kubernetesRulesSchema,
  description: DESCRIPTION,
};

/** Reads the rules of a file. */
export function readConnectionRules(
  { rules }: Infer<typeof connectionRulesSchema>,
  origin: Origin,
): ConnectionRulesConfig {
  return connectionRules(lowerRules(rules, origin), origin);
}

/** Joins the rules of several policies, all of which apply; returns `undefined` if no policy has rules. */
export function readKubernetesConnectionRules(
  values: readonly {
    readonly value: Infer<typeof kubernetesRulesSchema>;
    readonly origin: Origin;
  }[],
): ConnectionRulesConfig | undefined {
  const [first] = values;
  const rules = values.flatMap(({ value, origin }) => lowerKubernetesRules(value, origin));
  return first && connectionRules(rules, first.origin);
}

function connectionRules(rules: readonly RuleConfig[], origin: Origin): ConnectionRulesConfig {
  return policyConfig("authorization", { rules }, origin);
}

/** Reports rules that read variables other than `source`. */
export function checkConnectionRules(
  { rules }: ConnectionRulesSettings,
  diagnostics: Diagnostics,
): void {
  for (const { expression, origin } of rules) {
    const unknown = expression.reads.find(([first]) => first !== "source");
    if (unknown === undefined) continue;
    diagnostics.report("needs-source", origin, { variable: unknown.join(".") });
  }
}
