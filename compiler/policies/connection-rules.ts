import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { type Infer, object } from "../schema/schema.ts";
import { type PolicyConfig, type PolicySettings, policyConfig } from "./index.ts";
import {
  kubernetesRulesSchema,
  lowerKubernetesRules,
  lowerRules,
  type RuleConfig,
  rulesSchema,
} from "./parts/rules.ts";

/** Rules over every connection of clients: those of requests, where nothing but the connection is known yet. */
export type ConnectionRulesConfig = PolicyConfig<"authorization">;

/** The same resolved. */
export type ConnectionRulesSettings = PolicySettings["authorization"];

const DESCRIPTION =
  "Who may connect: rules over `source` (address, port, and what a client certificate says), decided once for each connection, before anything of what it carries is read; one that they do not allow is closed.";

/** `networkAuthorization` of a file. */
export const connectionRulesSchema = object(
  { rules: rulesSchema },
  { required: ["rules"], description: DESCRIPTION },
);

/** The same of manifests. */
export const kubernetesConnectionRulesSchema: typeof kubernetesRulesSchema = {
  ...kubernetesRulesSchema,
  description: DESCRIPTION,
};

/** The rules of a file. */
export function readConnectionRules(
  { rules }: Infer<typeof connectionRulesSchema>,
  origin: Origin,
): ConnectionRulesConfig {
  return connectionRules(lowerRules(rules, origin), origin);
}

/** The rules of several policies, which all hold; undefined: there are none. */
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

/** Reports what can't be known of a connection when it is made. */
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
