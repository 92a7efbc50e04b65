import type { Rule, RuleCase } from "../../../compiler/model/rules.ts";
import { code, comment, join } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Expression, Hole } from "../../code/hole.ts";
import { imported, name } from "../../code/names.ts";
import { ifStatement } from "../../code/statements.ts";
import { binary, call, member, negation, value } from "../../code/syntax.ts";

/** Rules as a function body and what it needs. */
export interface RulesCode {
  /** The statements: deny rules, required ones, then the allowing ones; the first that decides returns. */
  readonly body: readonly Hole[];
  /** The variables that the rules read, sorted. */
  readonly variables: readonly string[];
}

/**
 * Writes rules down in the order that decides: any deny wins, then any unmet require, then any allow. Without allow
 * rules whatever nothing objected to is allowed.
 */
export function rulesCode(rules: readonly Rule[], expressions: Expressions): RulesCode {
  const byAction = (action: Rule["action"]): readonly Rule[] =>
    rules.filter((rule) => rule.action === action);
  const [deny, require, allow] = [byAction("deny"), byAction("require"), byAction("allow")];
  const last = allow.length === 0 ? code`return true;` : code`return false;`;
  return {
    body: [
      ...deny.map((rule) => statements(rule, "deny: ", "false", expressions)),
      ...require.map((rule) => statements(rule, "require: ", "false", expressions)),
      ...allow.map((rule) => statements(rule, "", "true", expressions)),
      last,
    ],
    variables: [
      ...new Set(rules.flatMap(({ cases }) => cases).flatMap((each) => variablesOf(each))),
    ].sort(),
  };
}

/** A rule: one statement for each of the items that it is about, or one for all. */
function statements(
  { action, cases, expression }: Rule,
  label: string,
  verdict: string,
  expressions: Expressions,
): Code {
  const tests = cases.map((each) => {
    const test = expressions.use(each.expression.code);
    const isMet = action === "require" ? negation(test) : test;
    const conditions =
      isMet.kind === "value" && isMet.value === true
        ? checkedSubject(each)
        : [...subject(each), isMet];
    return ifStatement(conditions, code`return ${name(verdict)};`);
  });
  return code`
    ${comment(`${label}${expression.source}`)}
    ${join(tests, "\n")}
  `;
}

/** The conditions under which a case is about the item at all. */
function subject({ present, absent }: RuleCase): readonly Expression[] {
  if (present.length > 0) return present.map((path) => binary("!==", [read(path), ABSENT]));
  return absent.map((path) => binary("===", [read(path), ABSENT]));
}

/** The same where they decide alone: a comparison would tell TypeScript that no item of the kind comes after it. */
function checkedSubject(each: RuleCase): readonly Expression[] {
  const { present, absent } = each;
  const isPresent = imported("gwc/runtime/cel/values/select", "isPresent");
  if (present.length > 0) return present.map((path) => call(isPresent, [read(path)]));
  const without = absent.map((path) => negation(call(isPresent, [read(path)])));
  return without.length === 0 ? [value(true)] : without;
}

/** `mcp.tool` of a path of that text. */
function read(path: string): Expression {
  const [root = "", ...fields] = path.split(".");
  return fields.reduce<Expression>((object, field) => member(object, field), name(root));
}

const ABSENT = value(undefined);

function variablesOf({ present, absent, expression }: RuleCase): readonly string[] {
  const roots = [...present, ...absent].flatMap((path) => path.split(".").slice(0, 1));
  return [...expression.variables, ...roots];
}
