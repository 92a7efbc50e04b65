import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { Rule } from "../../model/rules.ts";

/** Reports rules that read the model of a request from its body: servers may take another one from other members or the path. */
export function reportModelRules(rules: readonly Rule[], diagnostics: Diagnostics): void {
  for (const { expression, origin } of rules) {
    if (!BODY_MODEL.test(expression.source)) continue;
    diagnostics.report("body-model-rule", origin, { rule: expression.source });
  }
}

/** `json(request.body).model`, also by index, through other functions, or of a bound name. */
const BODY_MODEL = /json\s*\([^)]*request\.body[\s\S]*(?:\.\??\s*|\[\??\s*["'])models?\b/i;
