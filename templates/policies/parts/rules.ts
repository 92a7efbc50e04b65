import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import type { Rule, RuleCase } from "../../../compiler/model/rules.ts";
import {
  brokenOnly,
  code,
  comment,
  group,
  indented,
  join,
  literal,
  SOFT,
} from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Expression, Hole } from "../../code/hole.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { ifStatement } from "../../code/statements.ts";
import { binary, call, member, negation, value } from "../../code/syntax.ts";
import type { Trace } from "../../code/trace.ts";

/** Rules as a function body and what it needs. */
export interface RulesCode {
  /** The constant that makes their denials. */
  readonly denials: Code;
  /** The statements: deny rules, required ones, then the allowing ones; the first that decides returns. */
  readonly body: readonly Hole[];
  /** The variables that the rules read, sorted. */
  readonly variables: readonly string[];
}

/** How rules say that they forbid something. */
export interface DenialOptions {
  /** The name of the constant that makes denials. */
  readonly label: string;
  /** Where the policy stands. */
  readonly policy: Origin;
  readonly trace: Trace;
}

const VERDICTS = "gwc/runtime/policies/rule-verdict";
const ALLOWED = imported(VERDICTS, "allowed");

/** What a function of rules returns. */
export const ruleVerdict = importedType(VERDICTS, "RuleVerdict");

/**
 * Writes rules down in the order that decides: any deny wins, then any unmet require, then any allow. Without allow
 * rules whatever nothing objected to is allowed.
 */
export function rulesCode(
  rules: readonly Rule[],
  expressions: Expressions,
  { label, policy, trace }: DenialOptions,
): RulesCode {
  const byAction = (action: Rule["action"]): readonly Rule[] =>
    rules.filter((rule) => rule.action === action);
  const [deny, require, allow] = [byAction("deny"), byAction("require"), byAction("allow")];
  const texts = rules.map(({ origin }) => trace.text(origin));
  const place = commonPlace([trace.text(policy), ...texts]);
  const denial = ({ origin }: Rule) =>
    textCall(name(label), trace.text(origin).slice(place.length).replace(/^[. ]/, ""));
  const last =
    allow.length === 0
      ? code`return ${ALLOWED};`
      : code`return ${textCall(name(label), "no rule allows it")};`;
  return {
    denials: code`const ${name(label)} = ${textCall(imported(VERDICTS, "denialsOf"), place)};`,
    body: [
      ...deny.map((rule) => statements(rule, "deny: ", denial(rule), expressions)),
      ...require.map((rule) => statements(rule, "require: ", denial(rule), expressions)),
      ...allow.map((rule) => statements(rule, "", code`${ALLOWED}`, expressions)),
      last,
    ],
    variables: [
      ...new Set(rules.flatMap(({ cases }) => cases).flatMap((each) => variablesOf(each))),
    ].sort(),
  };
}

/** A call with one text, which stands on a line of its own where it is long. */
function textCall(callee: Hole, text: string): Code {
  const argument = indented(SOFT, code`${literal(text)}`);
  return code`${group(code`${callee}(`, argument, brokenOnly(","), SOFT, ")")}`;
}

/** What all places begin with, up to a field or a section: rules of several policies may have no more than the file in common. */
function commonPlace(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  const parts = first.match(/[. ]?(?:\["(?:[^"\\]|\\.)*"\]|\[[^\]]*\]|[^.[ ])+/g) ?? [];
  let place = "";
  for (const part of parts) {
    const longer = place + part;
    if (!others.every((text) => text.startsWith(longer))) break;
    place = longer;
  }
  return place;
}

/** A rule: one statement for each of the items that it is about, or one for all. */
function statements(
  { action, cases, expression }: Rule,
  label: string,
  verdict: Code,
  expressions: Expressions,
): Code {
  const tests = cases.map((each) => {
    const test = expressions.use(each.expression.code);
    const isMet = action === "require" ? negation(test) : test;
    const conditions =
      isMet.kind === "value" && isMet.value === true
        ? checkedSubject(each)
        : [...subject(each), isMet];
    return ifStatement(conditions, code`return ${verdict};`);
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
