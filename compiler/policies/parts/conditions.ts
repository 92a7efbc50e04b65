import { resolveOfRequest } from "../../backends/parts/known-identities.ts";
import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import {
  expression,
  list,
  type Schema,
  type ValueCheck,
  withoutValue,
} from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";
import type { CaseConfig } from "./case-config.ts";

/** A case with its condition compiled. */
export interface CaseNode<Value> {
  readonly condition: CompiledExpression | undefined;
  readonly value: Value;
  readonly origin: Origin;
}

/** Description of `conditional`. */
export const ALTERNATIVES =
  "Alternatives: the first one whose condition is true applies; if none is true, the policy does nothing.";

/** Schema of the condition of an entry. */
export const condition = expression(
  "Condition under which the entry applies; only the last entry may omit it.",
);

/** Returns the schema of `conditional`: a list of entries, each with a condition except the last. */
export function conditionalSchema<Value>(
  entry: Schema<Value>,
): Schema<readonly (Value & { readonly condition?: string })[]> {
  const conditioned: Schema<Value & { readonly condition?: string }> = {
    ...withoutValue(entry),
    properties: { condition, ...entry.properties },
  };
  return list(conditioned, {
    minItems: 1,
    maxItems: 32,
    description: ALTERNATIVES,
  });
}

/** Returns the check that `conditional` is not combined with other fields; `what` names what its entries contain. */
export function conditionalAlone(what: string, others: readonly string[]): ValueCheck {
  const absent = others.map((field) => `!has(self.${field})`).join(" && ");
  return {
    message: `"conditional" cannot be combined with other fields: put ${what} in its entries`,
    field: "conditional",
    holds: (value) => !("conditional" in value) || Object.keys(value).length === 1,
    cel: `!has(self.conditional) || (${absent})`,
  };
}

/** Reads the cases of a policy: those of `conditional`, or the one that its own fields describe. */
export function lowerCases<Value, Given extends { readonly condition?: string }, Own>(
  value: Own & { readonly conditional?: readonly Given[] },
  origin: Origin,
  lower: (value: Given | Own, origin: Origin) => Value,
): readonly CaseConfig<Value>[] {
  const { conditional } = value;
  if (conditional === undefined)
    return [{ condition: undefined, value: lower(value, origin), origin }];
  return lowerConditional(conditional, origin, lower);
}

/** Reads the cases of `conditional`. */
export function lowerConditional<Value, Given extends { readonly condition?: string }>(
  conditional: readonly Given[],
  origin: Origin,
  lower: (value: Given, origin: Origin) => Value,
): readonly CaseConfig<Value>[] {
  return conditional.map((each, index) => {
    const at = childOf(origin, "conditional", index);
    const text = each.condition;
    const condition = text === undefined ? undefined : { text, origin: childOf(at, "condition") };
    return { condition, value: lower(each, at), origin: at };
  });
}

/** Resolves the cases; returns `undefined` if a mistake was reported. */
export function resolveCases<Config, Node>(
  cases: readonly CaseConfig<Config>[],
  context: ResolveContext,
  resolve: (value: Config, origin: Origin) => Node | undefined,
): readonly CaseNode<Node>[] | undefined {
  const { diagnostics } = context;
  const resolved = cases.flatMap(({ condition, value, origin }, index): CaseNode<Node>[] => {
    if (condition === undefined && index < cases.length - 1) {
      diagnostics.report("early-fallback", keyPlace(origin), {});
      return [];
    }
    const options = { phase: "request", slot: "filter" } as const;
    const compiled = condition && resolveOfRequest(condition, options, context);
    reportIdleCase(cases, index, context);
    const node = resolve(value, origin);
    const isValid = node !== undefined && (condition === undefined) === (compiled === undefined);
    return isValid ? [{ condition: compiled, value: node, origin }] : [];
  });
  return resolved.length === cases.length ? resolved : undefined;
}

/** Reports cases that can never apply. Conditions that evaluate to a constant are reported by the CEL compiler. */
function reportIdleCase(
  cases: readonly CaseConfig<unknown>[],
  index: number,
  { diagnostics }: ResolveContext,
): void {
  const textOf = (each: CaseConfig<unknown> | undefined) => each?.condition?.text.trim();
  const { condition } = cases[index] ?? {};
  if (condition === undefined) return;
  const text = textOf(cases[index]);
  const report = (why: "false" | "same" | "others") =>
    diagnostics.report("idle-case", condition.origin, { why });
  if (cases.slice(0, index).some((before) => textOf(before) === text)) report("same");
  else if (text === "false") report("false");
  else if (text === "true" && index < cases.length - 1) report("others");
}

/** Joins the configurations of `conditional` entries into one: each entry's cases under the entry's condition. */
export function joinCases<Value>(
  forms: readonly CaseConfig<{ readonly cases: readonly CaseConfig<Value>[] }>[],
): { readonly cases: readonly CaseConfig<Value>[] } {
  const cases = forms.flatMap(({ condition, origin, value }) =>
    value.cases.map((each) => ({ ...each, condition, origin })),
  );
  return { cases };
}

/** Returns the conditions as written. */
export function conditionsOf({
  cases,
}: {
  readonly cases: readonly CaseNode<unknown>[];
}): readonly (string | undefined)[] {
  return cases.map(({ condition }) => condition?.source);
}
