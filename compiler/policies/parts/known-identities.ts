import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import type { ResolveContext } from "../policy.ts";

/**
 * Without a policy that checks credentials the identity is null for every request, and what is said of it a
 * constant. The variables of which that was reported.
 */
export function reportAbsentIdentity(
  origin: Origin,
  expression: CompiledExpression | undefined,
  context: ResolveContext,
): readonly string[] {
  const absent = absentIdentities(expression?.variables ?? [], context);
  for (const params of absent) context.diagnostics.report("absent-identity", origin, params);
  return absent.map(({ variable }) => variable);
}

/** The identities among an expression's variables that no policy of the route establishes, and the policies that would. */
export function absentIdentities(
  variables: readonly string[],
  { identities, route }: ResolveContext,
): readonly { readonly variable: string; readonly policies: string }[] {
  const present = [...route.policies, ...route.preRouting];
  return variables.flatMap((variable) => {
    const kinds = identities.get(variable);
    if (kinds === undefined || kinds.some((kind) => present.includes(kind))) return [];
    return [{ variable, policies: kinds.join('" or "') }];
  });
}

/** The identities among an expression's variables that requests of the route need not have, and the policies that let them pass. */
export function optionalIdentities(
  variables: readonly string[],
  { identities, route }: ResolveContext,
): readonly { readonly variable: string; readonly policies: string }[] {
  const present = [...route.policies, ...route.preRouting];
  return variables.flatMap((variable) => {
    const kinds = identities.get(variable)?.filter((kind) => present.includes(kind)) ?? [];
    const isOptional = kinds.length > 0 && kinds.every((kind) => route.optional.includes(kind));
    return isOptional ? [{ variable, policies: kinds.join('" or "') }] : [];
  });
}
