import { nodesOf } from "../../../templates/code/syntax.ts";
import { type CelPhase, compileExpression } from "../../cel/compile.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
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
import { resolveExpression } from "./expressions.ts";

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
      { matchExpressions: list(expression("A CEL expression."), { minItems: 1 }) },
      { required: ["matchExpressions"] },
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
  const compiled = rules.flatMap(({ parts, ...rule }): Rule[] => {
    const own = parts?.map((part) => compileRule({ ...rule, ...part }, phase, context));
    if (own?.includes(undefined)) return [];
    // What is wrong with a part was reported there.
    const expression =
      own === undefined
        ? compileRule(rule, phase, context)
        : compileExpression(rule.expression, { phase, slot: rule.action }).expression;
    if (expression === undefined) return [];
    const about =
      phase === "mcp" ? MCP_ITEMS.filter((item) => expression.needs.includes(`mcp.${item}`)) : [];
    return [{ ...rule, expression: aboutItems(rule, expression, about), about }];
  });
  return compiled.length === rules.length ? compiled : undefined;
}

/** Compiles one expression; its problems are reported where it stands. */
function compileRule(
  rule: RuleConfig,
  phase: CelPhase,
  context: ResolveContext,
): CompiledExpression | undefined {
  const { expression: text, origin, action: slot } = rule;
  const expression = resolveExpression({ text, origin }, { phase, slot }, context.diagnostics);
  if (expression !== undefined) reportAbsentIdentity(rule, expression, context);
  return expression;
}

/**
 * The expression for where its items are known to be there, as a deny or require rule is written down. TypeScript does
 * not carry that knowledge into functions, so an expression that makes some stays as it is.
 */
function aboutItems(
  { action, expression: text }: RuleConfig,
  expression: CompiledExpression,
  about: readonly (typeof MCP_ITEMS)[number][],
): CompiledExpression {
  if (action === "allow" || about.length === 0) return expression;
  const present = about.map((item) => `mcp.${item}`);
  const narrow = compileExpression(text, { phase: "mcp", slot: action, present }).expression;
  const hasFunction =
    narrow !== undefined && [...nodesOf(narrow.code)].some(({ kind }) => kind === "arrow");
  return narrow === undefined || hasFunction ? expression : narrow;
}

/** Without a policy that checks credentials the identity is null for every request, and the rule a constant. */
function reportAbsentIdentity(
  { origin }: RuleConfig,
  { variables }: CompiledExpression,
  { diagnostics, identities, route }: ResolveContext,
): void {
  const present = [...route.policies, ...route.preRouting];
  for (const variable of variables) {
    const kinds = identities.get(variable);
    if (kinds === undefined || kinds.some((kind) => present.includes(kind))) continue;
    diagnostics.report("absent-identity", origin, { variable, policies: kinds.join('" or "') });
  }
}

const MCP_ITEMS = ["tool", "prompt", "resource"] as const;
