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
import type { Code, Expression, Hole, Operator } from "../../code/hole.ts";
import { assigned } from "../../code/layout.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { ifStatement } from "../../code/statements.ts";
import { binary, call, member, negation, nodesOf, value } from "../../code/syntax.ts";
import type { Trace } from "../../code/trace.ts";

/** Rules as a function body, with its constant. */
export interface RulesCode {
  /** Constant that makes their denials. */
  readonly denials: Code;
  /** Statements: deny rules, require rules, then allow rules; the first one that decides returns. */
  readonly body: readonly Hole[];
  /** Variables that the rules read, sorted. */
  readonly variables: readonly string[];
}

/** How rules name denials. */
export interface DenialOptions {
  /** Name of the constant that makes denials. */
  readonly label: string;
  /** Place of the policy. */
  readonly policy: Origin;
  readonly trace: Trace;
}

const VERDICTS = "gwc/runtime/policies/rule-verdict";
const ALLOWED = imported(VERDICTS, "allowed");

/** Return type of a function of rules. */
export const ruleVerdict = importedType(VERDICTS, "RuleVerdict");

/**
 * Writes rules in the order of their precedence: any deny wins, then any unmet require, then any allow. Without allow
 * rules, everything that is not refused is allowed.
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
    body: inParts(
      [
        ...deny.map((rule) => decision(rule, "deny: ", denial(rule), expressions)),
        ...require.map((rule) => decision(rule, "require: ", denial(rule), expressions)),
        ...allow.map((rule) => decision(rule, "", code`${ALLOWED}`, expressions)),
      ],
      last,
    ),
    variables: [
      ...new Set(rules.flatMap(({ cases }) => cases).flatMap((each) => variablesOf(each))),
    ].sort(),
  };
}

/** The statements of a rule, and the number of conditions in them. */
interface Decision {
  readonly text: Code;
  readonly conditions: number;
}

/**
 * Conditions of one function. TypeScript's analysis of a function's control flow ends at 2,000, and its time grows with
 * their square.
 */
const MAX_CONDITIONS = 250;

/** Writes decisions one after another; more than one function may have are divided among several. */
function inParts(decisions: readonly Decision[], last: Code): readonly Hole[] {
  const parts: Decision[][] = [];
  let conditions = 0;
  for (const each of decisions) {
    conditions += each.conditions;
    const part = parts.at(-1);
    if (part !== undefined && conditions <= MAX_CONDITIONS) part.push(each);
    else {
      parts.push([each]);
      conditions = each.conditions;
    }
  }
  if (parts.length < 2) return [...decisions.map(({ text }) => text), last];
  const names = parts.map((_, index) => name(`part${index + 1}`));
  const verdict = binary(
    "??",
    names.map((each) => call(each, [])),
  );
  return [
    ...parts.map(
      (part, index) => code`
        const ${names[index] ?? []} = (): ${ruleVerdict} | undefined => {
          ${part.map(({ text }) => text)}
          return undefined;
        };
      `,
    ),
    code`${assigned("const verdict =", verdict)};`,
    ifStatement([code`verdict !== undefined`], code`return verdict;`),
    last,
  ];
}

/** Writes a call with a string, which is on a line of its own if it is long. */
function textCall(callee: Hole, text: string): Code {
  const argument = indented(SOFT, code`${literal(text)}`);
  return code`${group(code`${callee}(`, argument, brokenOnly(","), SOFT, ")")}`;
}

/**
 * Returns the common start of all places, up to a field or a section. Rules of several policies may have only the
 * file in common.
 */
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

/** Writes a rule: one statement for each kind of item that it applies to, or one for all. */
function decision(
  { action, cases, expression }: Rule,
  label: string,
  verdict: Code,
  expressions: Expressions,
): Decision {
  const tests = cases.map((each) => {
    const test = expressions.use(each.expression.code);
    const isMet = action === "require" ? negation(test) : test;
    return isMet.kind === "value" && isMet.value === true
      ? checkedSubject(each)
      : [...subject(each), isMet];
  });
  const statements = tests.map((conditions) => ifStatement(conditions, code`return ${verdict};`));
  return {
    text: code`
      ${comment(`${label}${expression.source}`)}
      ${join(statements, "\n")}
    `,
    conditions: tests.flat().reduce((sum, test) => sum + conditionsIn(test), 0),
  };
}

/** Returns the number of conditions that an expression branches on. */
function conditionsIn(test: Expression): number {
  let count = 1;
  for (const node of nodesOf(test)) {
    if (node.kind === "conditional") count++;
    else if (node.kind === "binary" && BRANCHING.has(node.operator))
      count += node.operands.length - 1;
  }
  return count;
}

const BRANCHING: ReadonlySet<Operator> = new Set(["&&", "||", "??"]);

/** Returns the conditions under which a case applies to the item. */
function subject({ present, absent }: RuleCase): readonly Expression[] {
  if (present.length > 0) return present.map((path) => binary("!==", [read(path), ABSENT]));
  return absent.map((path) => binary("===", [read(path), ABSENT]));
}

/**
 * Returns the same if they are the only conditions: after a comparison, TypeScript would conclude that later code
 * never sees an item of the kind.
 */
function checkedSubject(each: RuleCase): readonly Expression[] {
  const { present, absent } = each;
  const isPresent = imported("gwc/runtime/cel/values/select", "isPresent");
  if (present.length > 0) return present.map((path) => call(isPresent, [read(path)]));
  const without = absent.map((path) => negation(call(isPresent, [read(path)])));
  return without.length === 0 ? [value(true)] : without;
}

/** Writes the path `mcp.tool` as an expression. */
function read(path: string): Expression {
  const [root = "", ...fields] = path.split(".");
  return fields.reduce<Expression>((object, field) => member(object, field), name(root));
}

const ABSENT = value(undefined);

function variablesOf({ present, absent, expression }: RuleCase): readonly string[] {
  const roots = [...present, ...absent].flatMap((path) => path.split(".").slice(0, 1));
  return [...expression.variables, ...roots];
}
