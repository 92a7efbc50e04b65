import type { PolicySettings } from "../../compiler/ir.ts";
import { type Code, code, imported, importedType, join, literal, name } from "../code.ts";
import type { Expressions } from "../expression.ts";
import { rulesCode } from "../rules.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/mcp-authorization";

/** `mcpAuthorization`: the rule function that the MCP backend asks about every item, listed or called. */
export const mcpAuthorizationTemplate: PolicyTemplate<"mcpAuthorization"> = (
  { settings, origin },
  { trace, expressions },
) => {
  const { rules, ofTargets } = settings;
  const own = ofTargets.map(({ id, rules: each }) =>
    ruleFunction(`mayUseOn${id.charAt(0).toUpperCase()}${id.slice(1)}`, each, expressions),
  );
  const all = ruleFunction(own.length === 0 ? "mayUse" : "mayUseElsewhere", rules, expressions);
  const declarations = [...own, all].map(({ text }) => text);
  const choice = own.length === 0 ? [] : [targetChoice(ofTargets, own, all)];
  return {
    declarations: [
      code`
        ${trace(origin)}
        ${join([...declarations, ...choice], "\n\n")}
      `,
    ],
    steps: [],
    mcpRule: code`mayUse`,
  };
};

interface RuleFunction {
  readonly text: Code;
  /** How it is called with `input`. */
  readonly call: Code;
}

function ruleFunction(
  label: string,
  rules: PolicySettings["mcpAuthorization"]["rules"],
  expressions: Expressions,
): RuleFunction {
  const { body, variables } = rulesCode(rules, expressions);
  const input = importedType(MODULE, "McpRuleInput");
  const parameter =
    variables.length === 0 ? [] : code`{ ${join(variables.map(name), ", ")} }: ${input}`;
  return {
    text: code`
      function ${name(label)}(${parameter}): boolean {
        ${body}
      }
    `,
    call: variables.length === 0 ? code`${name(label)}()` : code`${name(label)}(input)`,
  };
}

/** Some targets have rules of their own: the item's target decides. */
function targetChoice(
  targets: PolicySettings["mcpAuthorization"]["ofTargets"],
  own: readonly RuleFunction[],
  all: RuleFunction,
): Code {
  const cases = targets.map(
    ({ target }, index) => code`
      case ${literal(target)}:
        return ${own[index]?.call ?? all.call};
    `,
  );
  return code`
    function mayUse(input: ${importedType(MODULE, "McpRuleInput")}): boolean {
      switch (${imported(MODULE, "targetOf")}(input.mcp)) {
        ${cases}
        default:
          return ${all.call};
      }
    }
  `;
}
