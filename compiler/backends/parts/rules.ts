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
import { checkIdentities, type IdentityContext, resolveOfRequest } from "./known-identities.ts";
import { FAILED, tolerated } from "./tolerated-expressions.ts";

/** A rule as configured: an expression and the effect if it is true. */
export interface RuleConfig {
  readonly action: Rule["action"];
  readonly expression: string;
  readonly origin: Origin;
  /** The expressions that a rule joins, each with its location. */
  readonly parts?: readonly Pick<RuleConfig, "expression" | "origin">[];
}

/**
 * Schema of `rules` in a file: a plain expression allows, as do `{allow}` and `{if}`; the others are `{deny}` and
 * `{require}`.
 */
export const rulesSchema = list(
  either(
    anyText({ minLength: 1, maxLength: 16384, expression: true }),
    object(
      {
        if: expression("Allows if true."),
        allow: expression("Allows if true."),
        deny: expression("Denies if true, if evaluation fails, or if the result is not a boolean."),
        require: expression("Denies unless true."),
      },
      { exactlyOneOf: ["if", "allow", "deny", "require"] },
    ),
  ),
  {
    minItems: 1,
    description:
      "CEL rules: a plain `EXPR` allows if true, `{deny: EXPR}` denies if true, `{require: EXPR}` denies unless true. A request is " +
      "denied if any deny or require rule denies it. Otherwise it needs one allow rule that is true, unless there are no allow rules.",
  },
);

/** Schema of the specification's `Authorization`: CEL rules of one action. */
export const kubernetesRulesSchema = object(
  {
    policy: object(
      {
        matchExpressions: list(expression("A CEL expression."), {
          minItems: 1,
          description: "CEL expressions, of which one must be true.",
        }),
      },
      { required: ["matchExpressions"], description: "Condition for the action." },
    ),
    action: choice("Effect if one of the expressions is true.", ["Allow", "Deny", "Require"], {
      default: "Allow",
    }),
  },
  { required: ["policy"] },
);

/** Reads the rules of a file. */
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
 * Reads the rules of `Authorization`. Each expression allows or denies by itself. Require needs any one of its
 * expressions to be true, so these are joined into one rule.
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

/** Compiles the rules; returns `undefined` if one is invalid (reported). */
export function resolveRules(
  rules: readonly RuleConfig[],
  phase: CelPhase,
  context: IdentityContext,
): readonly Rule[] | undefined {
  const resolved = rules.flatMap((rule) => {
    const found = tolerated(rule.origin, context.diagnostics, (diagnostics) =>
      resolveRule(rule, phase, { ...context, diagnostics }),
    );
    return found === FAILED ? failedRule(rule, phase) : (found ?? []);
  });
  return resolved.length === rules.length ? resolved : undefined;
}

/** Returns what a rule that always fails amounts to: it allows nothing, or denies everything. */
function failedRule({ action, expression: text, origin }: RuleConfig, phase: CelPhase): Rule | [] {
  const constant = String(action === "deny");
  const { expression, cases } = compileRule(constant, phase, action);
  if (expression === undefined) return [];
  const source = `${text.replace(/\s+/g, " ").trim()} (invalid, so it fails)`;
  return { action, text: constant, expression: { ...expression, source }, cases, origin };
}

function resolveRule(
  { action, expression: text, origin, parts }: RuleConfig,
  phase: CelPhase,
  context: IdentityContext,
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

/** Reports errors that only the joined expression has, at the location of all of its parts. */
function addJoinedProblems(
  problems: readonly CelProblem[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  for (const { within: _within, ...problem } of problems) {
    if (messages[problem.code].severity === "error") diagnostics.add({ ...problem, at: origin });
  }
}

/** Returns the scopes that rules require of tokens; `undefined` if none. */
export function requiredScopes(rules: readonly Rule[]): NamedScopes | undefined {
  return namedScopes(rules.flatMap(({ action, text }) => (action === "require" ? text : [])));
}

/** Returns the locations of rules that read the request's path, under any of its names. */
export function rulesOnPaths(rules: readonly Rule[]): readonly Origin[] {
  return rules.flatMap(({ expression, origin }) =>
    expression.reads.some(([first, field]) => first === "request" && PATHS.has(field))
      ? origin
      : [],
  );
}

/** `undefined` means the request as a whole. */
const PATHS: ReadonlySet<string | undefined> = new Set([undefined, "path", "pathAndQuery", "uri"]);
