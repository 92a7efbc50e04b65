import type { CelPhase } from "../../cel/compile.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";
import { expression, map } from "../../schema/schema.ts";
import { type IdentityContext, resolveOfRequest } from "./known-identities.ts";
import { FAILED, tolerated } from "./tolerated-expressions.ts";

/** A name with a compiled expression. */
export interface NamedNode {
  readonly name: string;
  readonly value: CompiledExpression;
}

/** Returns the schema of a map of names to expressions. */
export function expressionsSchema(description: string) {
  return map(expression("CEL expression for the value."), { maxProperties: 64, description });
}

/** Reads the expressions of a validated map, in order. */
export function lowerExpressions(
  value: Readonly<Record<string, string>> | undefined,
  origin: Origin,
): readonly NamedExpression[] {
  return Object.entries(value ?? {}).map(([name, text]) => ({
    name,
    text,
    origin: childOf(origin, name),
  }));
}

/**
 * Compiles expressions whose values are omitted if they fail: the same as `resolveExpressions`, without those whose
 * mistakes are tolerated.
 */
export function resolveOmissible(
  all: readonly NamedExpression[],
  phase: CelPhase,
  context: IdentityContext,
): readonly NamedNode[] | undefined {
  const found = all.map(({ name, ...each }) => {
    const value = tolerated(each.origin, context.diagnostics, (diagnostics) =>
      resolveOfRequest(each, { phase, slot: "value" }, { ...context, diagnostics }),
    );
    return { name, value };
  });
  if (found.some(({ value }) => value === undefined)) return undefined;
  return found.flatMap(({ name, value }) =>
    value === undefined || value === FAILED ? [] : [{ name, value }],
  );
}

/**
 * Compiles the expressions, and reports identities that no policy establishes; returns `undefined` if one is
 * invalid (reported).
 */
export function resolveExpressions(
  all: readonly NamedExpression[],
  phase: CelPhase,
  context: IdentityContext,
): readonly NamedNode[] | undefined {
  const found = all.flatMap((each): readonly NamedNode[] => {
    const value = resolveOfRequest(each, { phase, slot: "value" }, context);
    return value === undefined ? [] : [{ name: each.name, value }];
  });
  return found.length === all.length ? found : undefined;
}
