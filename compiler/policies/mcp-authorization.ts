import { object } from "../schema.ts";
import type { Policy } from "./policy.ts";
import { type RuleConfig, readRules, resolveRules, rulesSchema } from "./rules.ts";

declare module "./policy.ts" {
  interface PolicyConfigs {
    mcpAuthorization: { readonly rules: readonly RuleConfig[] };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    mcpAuthorization: { readonly rules: readonly Rule[] };
  }
}

/** Which tools, prompts and resources a caller sees and may use: lists are filtered, calls refused, by the same rules. */
export const mcpAuthorization: Policy<"mcpAuthorization"> = {
  kind: "mcpAuthorization",
  summary:
    "CEL rules per tool, prompt and resource; lists show what may be called, anything else is unknown",
  scope: ["route", "backend"],
  schema: object(
    { rules: rulesSchema },
    {
      required: ["rules"],
      description: "Which tools, prompts and resources a caller sees and may use.",
    },
  ),
  merge: "replace",
  read: (value, origin) => ({ rules: readRules(value, origin) }),
  resolve: ({ rules }, context) => {
    if (!context.route.isMcp) {
      context.diagnostics.report(
        "needs-mcp-backend",
        { ...context.origin, part: "key" },
        { policy: "mcpAuthorization" },
      );
      return undefined;
    }
    const compiled = resolveRules(rules, "mcp", context);
    return compiled === undefined ? undefined : { rules: compiled };
  },
};
