import type { Rule } from "../compiler/ir.ts";
import { type Code, code, comment, type Hole, name } from "./code.ts";
import { constantsOf, expression } from "./expression.ts";
import { ifStatement } from "./statements.ts";

/** Rules as a function body and what it needs. */
export interface RulesCode {
  /** Module constants that the rules refer to. */
  readonly constants: readonly Code[];
  /** The statements: deny rules, required ones, then the allowing ones; the first that decides returns. */
  readonly body: readonly Hole[];
  /** The variables that the rules read, sorted. */
  readonly variables: readonly string[];
}

/**
 * Writes rules down in the order that decides: any deny wins, then any unmet require, then any allow. Without allow
 * rules whatever nothing objected to is allowed.
 */
export function rulesCode(rules: readonly Rule[]): RulesCode {
  const byAction = (action: Rule["action"]): readonly Rule[] =>
    rules.filter((rule) => rule.action === action);
  const [deny, require, allow] = [byAction("deny"), byAction("require"), byAction("allow")];
  const last = allow.length === 0 ? code`return true;` : code`return false;`;
  return {
    constants: rules.flatMap(({ expression: { code: emitted } }) => constantsOf(emitted)),
    body: [
      ...deny.map((rule) => statement(rule, "deny: ", "false")),
      ...require.map((rule) => statement(rule, "require: ", "false")),
      ...allow.map((rule) => statement(rule, "", "true")),
      last,
    ],
    variables: [...new Set(rules.flatMap((rule) => rule.expression.variables))].sort(),
  };
}

function statement(
  { action, expression: { source, code: emitted } }: Rule,
  label: string,
  verdict: string,
): Code {
  const test = expression(emitted);
  const condition = action === "require" ? negated(emitted.text, test) : test;
  return code`
    ${comment(`${label}${source}`)}
    ${ifStatement([condition], code`return ${name(verdict)};`)}
  `;
}

/** `!` binds tighter than any operator, so anything but a call or a name is put in parentheses. */
function negated(text: string, test: Code): Code {
  return /^[\w$.?]+(\([^()]*\))?$/.test(text) ? code`!${test}` : code`!(${test})`;
}
