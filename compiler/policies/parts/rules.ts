import { checkIdentities, resolveOfRequest } from "../../backends/parts/known-identities.ts";
import { type CelPhase, compileRule } from "../../cel/compile.ts";
import { type NamedScopes, namedScopes } from "../../cel/kinds/named-scopes.ts";
import { addProblems, type CelProblem } from "../../cel/parse/problems.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { messages } from "../../diagnostics/messages/index.ts";
import type { Rule } from "../../model/rules.ts";
import {
  anyText,
  choice,
  either,
  expression,
  type Infer,
  list,
  object,
} from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";

/** A rule as configured: what it does when its expression is true. */
export interface RuleConfig {
  readonly action: Rule["action"];
  readonly expression: string;
  readonly origin: Origin;
  /** The expressions that it joins, where each of them stands. */
  readonly parts?: readonly Pick<RuleConfig, "expression" | "origin">[];
}

/** The shape of `rules` in the file: a plain expression allows; `{allow}`, `{deny}`, `{require}`, `{if}` (allows). */
export const rulesSchema = list(
  either(
    anyText({ minLength: 1, maxLength: 16384, expression: true }),
    object(
      {
        if: expression("Allows when it is true."),
        allow: expression("Allows when it is true."),
        deny: expression("Denies when it is true, fails, or is no boolean."),
        require: expression("Denies unless it is true."),
      },
      { exactlyOneOf: ["if", "allow", "deny", "require"] },
    ),
  ),
  {
    minItems: 1,
    description:
      "A CEL expression allows; `{deny: EXPR}` denies, `{require: EXPR}` denies unless true. Any deny wins, then any " +
      "unmet require, then any allow; only deny and require rules that do not object allow.",
  },
);

/** `Authorization` of the specification: CEL rules of one action. */
export const kubernetesRulesSchema = object(
  {
    policy: object(
      {
        matchExpressions: list(expression("A CEL expression."), {
          minItems: 1,
          description: "Expressions of which one is enough.",
        }),
      },
      { required: ["matchExpressions"], description: "When the action is taken." },
    ),
    action: choice(
      "What it does when one of the expressions is true.",
      ["Allow", "Deny", "Require"],
      { default: "Allow" },
    ),
  },
  { required: ["policy"] },
);

/** The rules of a file. */
export function lowerRules(
  rules: Infer<typeof rulesSchema>,
  origin: Origin,
): readonly RuleConfig[] {
  return rules.map((rule, index) => {
    if (typeof rule === "string") {
      return { action: "allow", expression: rule, origin: childOf(origin, "rules", index) };
    }
    const [[key, text] = ["allow", ""]] = Object.entries(rule);
    const action = key === "deny" || key === "require" ? key : "allow";
    return { action, expression: text, origin: childOf(origin, "rules", index, key) };
  });
}

/**
 * The rules of `Authorization`: an expression allows or denies by itself; of a Require's expressions one
 * has to be true, so they become one rule.
 */
export function lowerKubernetesRules(
  { policy: { matchExpressions }, action = "Allow" }: Infer<typeof kubernetesRulesSchema>,
  origin: Origin,
): readonly RuleConfig[] {
  const at = childOf(origin, "policy", "matchExpressions");
  if (action === "Require" && matchExpressions.length > 1) {
    const any = matchExpressions.map((each) => `(${each})`).join(" || ");
    const parts = matchExpressions.map((expression, index) => ({
      expression,
      origin: childOf(at, index),
    }));
    return [{ action: "require", expression: any, origin: at, parts }];
  }
  const verdict = ({ Allow: "allow", Deny: "deny", Require: "require" } as const)[action];
  return matchExpressions.map((expression, index) => ({
    action: verdict,
    expression,
    origin: childOf(at, index),
  }));
}

/** Compiles the rules; undefined when one of them is wrong (reported). */
export function resolveRules(
  rules: readonly RuleConfig[],
  phase: CelPhase,
  context: ResolveContext,
): readonly Rule[] | undefined {
  const resolved = rules.flatMap((rule) => resolveRule(rule, phase, context) ?? []);
  return resolved.length === rules.length ? resolved : undefined;
}

function resolveRule(
  { action, expression: text, origin, parts }: RuleConfig,
  phase: CelPhase,
  context: ResolveContext,
): Rule | undefined {
  const own = parts?.map(({ expression: part, origin: at }) =>
    resolveOfRequest({ text: part, origin: at }, { phase, slot: action }, context),
  );
  if (own?.includes(undefined)) return undefined;
  const { expression, cases, problems } = compileRule(text, phase, action);
  const absent =
    own === undefined ? checkIdentities({ text, origin }, expression, phase, context) : [];
  if (own === undefined) {
    const isFollowUp = (problem: CelProblem) =>
      problem.code === "cel-denies-absent" && absent.includes(problem.params.variable);
    const others = problems.filter((problem) => !isFollowUp(problem));
    addProblems(others, origin, context.diagnostics);
  } else if (expression === undefined) {
    addJoinedProblems(problems, origin, context.diagnostics);
  }
  return expression && { action, text, expression, cases, origin };
}

/** What is wrong with expressions only when they are joined, where all of them stand. */
function addJoinedProblems(
  problems: readonly CelProblem[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  for (const { within: _within, ...problem } of problems) {
    if (messages[problem.code].severity === "error") diagnostics.add({ ...problem, at: origin });
  }
}

/** The scopes that rules require of tokens; undefined: none. */
export function requiredScopes(rules: readonly Rule[]): NamedScopes | undefined {
  return namedScopes(rules.flatMap(({ action, text }) => (action === "require" ? text : [])));
}

/** The rules that read the path of a request, under any of its names. */
export function rulesOnPaths(rules: readonly Rule[]): readonly Origin[] {
  return rules.flatMap(({ expression, origin }) =>
    expression.reads.some(([first, field]) => first === "request" && PATHS.has(field))
      ? origin
      : [],
  );
}

/** Undefined: the request as a whole. */
const PATHS: ReadonlySet<string | undefined> = new Set([undefined, "path", "pathAndQuery", "uri"]);
