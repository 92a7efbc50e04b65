import { type CelPhase, compileRule } from "../../cel/compile.ts";
import { type NamedScopes, namedScopes } from "../../cel/kinds/named-scopes.ts";
import { addProblems, type CelProblem } from "../../cel/parse/problems.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
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
import { checkIdentities, type IdentityContext } from "./known-identities.ts";
import { FAILED, tolerated } from "./tolerated-expressions.ts";

/** A rule as configured: an expression and the effect if it is true. */
export interface RuleConfig {
  readonly action: Rule["action"];
  readonly expression: string;
  readonly origin: Origin;
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
          description: "CEL expressions, each of which is a rule.",
        }),
      },
      { required: ["matchExpressions"], description: "Condition for the action." },
    ),
    action: choice(
      "Effect of the expressions: `Allow` needs one of them to be true, `Deny` refuses what makes one true, and `Require` needs all to be true.",
      ["Allow", "Deny", "Require"],
      { default: "Allow" },
    ),
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

/** Reads the rules of `Authorization`: each expression allows, denies or is required by itself, as in agentgateway. */
export function lowerKubernetesRules(
  { policy: { matchExpressions }, action = "Allow" }: Infer<typeof kubernetesRulesSchema>,
  origin: Origin,
): readonly RuleConfig[] {
  const at = childOf(origin, "policy", "matchExpressions");
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
  { action, expression: text, origin }: RuleConfig,
  phase: CelPhase,
  context: IdentityContext,
): Rule | undefined {
  const { expression, cases, problems } = compileRule(text, phase, action);
  const absent = checkIdentities({ text, origin }, expression, phase, context);
  const isFollowUp = (problem: CelProblem) =>
    problem.code === "cel-denies-absent" && absent.includes(problem.params.variable);
  const others = problems.filter((problem) => !isFollowUp(problem));
  addProblems(others, origin, context.diagnostics);
  return expression && { action, text, expression, cases, origin };
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
