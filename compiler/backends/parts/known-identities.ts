import type { CelPhase, CelSlot } from "../../cel/compile.ts";
import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { type ExpressionConfig, resolveExpression } from "./expressions.ts";

/** Which identities the requests have that expressions read. */
export interface IdentityContext {
  readonly diagnostics: Diagnostics;
  /** The policies that establish each identity, by its variable. */
  readonly identities: ReadonlyMap<string, readonly string[]>;
  /** The policies that the requests have met. */
  readonly route: PrecedingPolicies;
  /** The policies that have not run when requests meet what is resolved; absent: all have. */
  readonly later?: ReadonlySet<string>;
}

/** Kinds of policies of a route. */
export interface PrecedingPolicies {
  /** Those of the route itself. */
  readonly policies: readonly string[];
  /** Those that run before the route is chosen, on some listener of it. */
  readonly preRouting: readonly string[];
  /** Of both those that establish an identity and let requests without it go on; none where another one decides on access. */
  readonly optional: readonly string[];
  /** Of both what is known of the identities that they establish. */
  readonly identityFields: readonly IdentityFields[];
}

/** The fields of which an identity has some; undefined: any. */
export interface IdentityFields {
  readonly variable: string;
  readonly fields: readonly string[] | undefined;
}

/** Compiles an expression about a request; undefined when it is wrong (reported, as are identities that nobody establishes). */
export function resolveOfRequest(
  config: ExpressionConfig,
  options: { readonly phase: CelPhase; readonly slot: CelSlot },
  context: IdentityContext,
): CompiledExpression | undefined {
  const expression = resolveExpression(config, options, context.diagnostics);
  checkIdentities(config, expression, options.phase, context);
  return expression;
}

/**
 * Without a policy that checks credentials the identity is null for every request, and what is said of it, or of a field
 * that it never has, a constant. The variables of which that was reported, or that they are not known yet.
 */
export function checkIdentities(
  { text, origin }: ExpressionConfig,
  expression: CompiledExpression | undefined,
  phase: CelPhase,
  context: IdentityContext,
): readonly string[] {
  const { variables = [], reads = [] } = expression ?? {};
  const absent = absentIdentities(variables, context);
  for (const params of absent) context.diagnostics.report("absent-identity", origin, params);
  for (const [variable = "", field] of reads) {
    const known = fieldsOf(variable, context.route);
    if (known === undefined || field === undefined || known.includes(field)) continue;
    const near = suggest(field, known);
    const params = { variable, field, known, suggestion: near && `${variable}.${near}` };
    const at = text.indexOf(`${variable}.${field}`);
    const within = [at, at + variable.length + field.length + 1] as const;
    const place = at === -1 ? origin : { ...origin, within };
    context.diagnostics.report("unknown-identity-field", place, params);
  }
  // Other expressions are evaluated when all policies have run.
  const early = phase === "request" ? reportEarlyIdentity(origin, variables, context) : [];
  return [...absent.map(({ variable }) => variable), ...early];
}

/** Reports the identities among the variables that are established only later on the route; those variables. */
export function reportEarlyIdentity(
  origin: Origin,
  variables: readonly string[],
  { identities, route, later, diagnostics }: IdentityContext,
): readonly string[] {
  return variables.filter((variable) => {
    const kinds = identities.get(variable) ?? [];
    const own = kinds.filter((kind) => route.policies.includes(kind));
    const isKnown = kinds.some((kind) => route.preRouting.includes(kind));
    if (isKnown || own.length === 0 || !own.every((kind) => later?.has(kind) === true))
      return false;
    diagnostics.report("too-early", origin, { variable, policies: own.join('" and "') });
    return true;
  });
}

/** The fields that an identity may have, in order; undefined: any, or it is none. */
function fieldsOf(
  variable: string,
  { identityFields }: PrecedingPolicies,
): readonly string[] | undefined {
  const own = identityFields.filter((each) => each.variable === variable);
  const lists = own.map(({ fields }) => fields);
  if (lists.length === 0 || !lists.every((fields) => fields !== undefined)) return undefined;
  return [...new Set(lists.flat())].sort();
}

/** The identities among an expression's variables that no policy of the route establishes, and the policies that would. */
export function absentIdentities(
  variables: readonly string[],
  { identities, route }: IdentityContext,
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
  { identities, route }: IdentityContext,
): readonly { readonly variable: string; readonly policies: string }[] {
  const present = [...route.policies, ...route.preRouting];
  return variables.flatMap((variable) => {
    const kinds = identities.get(variable)?.filter((kind) => present.includes(kind)) ?? [];
    const isOptional = kinds.length > 0 && kinds.every((kind) => route.optional.includes(kind));
    return isOptional ? [{ variable, policies: kinds.join('" or "') }] : [];
  });
}
