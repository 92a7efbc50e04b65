import type { PolicySettings } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { pickedCode, repeatableReads } from "../backends/parts/readings.ts";
import { type DenialOptions, rulesCode, ruleVerdict } from "../backends/parts/rules.ts";
import { code, join, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression } from "../code/hole.ts";
import { capitalized, imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { arrow, call } from "../code/syntax.ts";
import { parameter } from "../code/variables.ts";
import type { PolicyTemplate } from "./policy.ts";

const VERDICTS = "gwc/runtime/policies/rule-verdict";
const MODULE = "gwc/runtime/policies/mcp-authorization";

/** `mcpAuthorization`: the rule function that the MCP backend calls for every listed or called item. */
export const mcpAuthorizationTemplate: PolicyTemplate<"mcpAuthorization"> = {
  code: ({ settings, origin }, { trace, expressions, variables, openStepUp }) => {
    const { rules, ofTargets, methods, requiredScopes } = settings;
    const stepUp =
      openStepUp === undefined || requiredScopes === undefined
        ? undefined
        : code`const callStepUp = ${openStepUp}(${literal({ ...requiredScopes })});`;
    const source = { policy: origin, trace };
    const own = ofTargets.map(({ id, rules: each }) =>
      ruleFunction(`On${capitalized(id)}`, each, expressions, source),
    );
    const suffix = own.length === 0 ? "" : "Elsewhere";
    const isOpenElsewhere = own.length > 0 && rules.length === 0;
    const all = isOpenElsewhere ? undefined : ruleFunction(suffix, rules, expressions, source);
    const functions = all === undefined ? own : [...own, all];
    const others = [...new Set(functions.flatMap((each) => each.others))].sort();
    const declarations = functions.map(({ text }) => text);
    const elsewhere = all?.call ?? code`${imported(VERDICTS, "allowed")}`;
    const choice = own.length === 0 ? [] : [targetChoice(ofTargets, own, elsewhere, others)];
    const passed = others.map((variable) => variables.argument(variable));
    return {
      declarations: [
        code`
          ${trace(origin)}
          ${join([...declarations, ...choice], "\n\n")}
        `,
        ...(stepUp === undefined ? [] : [stepUp]),
      ],
      steps: [],
      readsRequestBody: readsBody(
        [...rules, ...ofTargets.flatMap((each) => each.rules)].map(({ expression }) => expression),
        "request",
      ),
      mcpMethods: methods,
      ...(settings.readsArguments && {
        mcpArguments: imported("gwc/runtime/mcp/rules/call-arguments", "callArguments"),
      }),
      ...(stepUp && { mcpStepUp: code`callStepUp` }),
      mcpRule: itemRule(
        passed,
        [...rules, ...ofTargets.flatMap((each) => each.rules)].map(({ expression }) => expression),
      ),
    };
  },
};

/**
 * Returns the rule function that the backend calls, for all readings of the request if rules read repeatable values.
 */
function itemRule(passed: readonly Code[], expressions: readonly CompiledExpression[]): Expression {
  const input = name("input");
  const rule =
    passed.length === 0
      ? name("authorizeCall")
      : arrow([input], call(name("authorizeCall"), [input, ...passed]));
  const repeatable = repeatableReads(expressions);
  if (repeatable === undefined) return rule;
  const { parameters } = repeatable;
  const judge = imported("gwc/runtime/policies/every-reading", "judgeItem");
  const given = parameters === undefined ? [] : [pickedCode(parameters)];
  return arrow([name("item")], call(judge, [name("item"), rule, ...given]));
}

/** Input that the backend passes for each item; the route passes identities other than the token's. */
const OF_THE_ITEM: ReadonlySet<string> = new Set(["request", "jwt", "mcp"]);

interface RuleFunction {
  readonly text: Code;
  /** Writes a call with `input` and the other variables under their names. */
  readonly call: Code;
  readonly others: readonly string[];
}

/** Writes the function `authorizeCall` with a suffix, and the constant that makes its denials. */
function ruleFunction(
  suffix: string,
  rules: PolicySettings["mcpAuthorization"]["rules"],
  expressions: Expressions,
  source: Omit<DenialOptions, "label">,
): RuleFunction {
  const label = `authorizeCall${suffix}`;
  const denial = { label: `deniedCall${suffix}`, ...source };
  const { denials, body, variables } = rulesCode(rules, expressions, denial);
  const input = importedType(MODULE, "McpRuleInput");
  const own = variables.filter((variable) => OF_THE_ITEM.has(variable));
  const others = variables.filter((variable) => !OF_THE_ITEM.has(variable));
  const item =
    own.length === 0 ? code`_input: ${input}` : code`{ ${join(own.map(name), ", ")} }: ${input}`;
  const parameters = variables.length === 0 ? [] : join([item, ...others.map(parameter)], ", ");
  const passed = variables.length === 0 ? [] : [code`input`, ...others.map(name)];
  return {
    text: code`
      ${denials}

      function ${name(label)}(${parameters}): ${ruleVerdict} {
        ${body}
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
    others,
  };
}

/** Writes rules that differ by target: the target of the item decides. */
function targetChoice(
  targets: PolicySettings["mcpAuthorization"]["ofTargets"],
  own: readonly RuleFunction[],
  elsewhere: Code,
  others: readonly string[],
): Code {
  const cases = targets.map(
    ({ target }, index) => code`
      case ${literal(target)}:
        return ${own[index]?.call ?? elsewhere};
    `,
  );
  const input = code`input: ${importedType(MODULE, "McpRuleInput")}`;
  return code`
    function authorizeCall(${join([input, ...others.map(parameter)], ", ")}): ${ruleVerdict} {
      switch (${imported(MODULE, "targetOf")}(input.mcp)) {
        ${cases}
        default:
          return ${elsewhere};
      }
    }
  `;
}
