import type { CelPhase, CelSlot } from "../../cel/compile.ts";
import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { type ExpressionConfig, resolveExpression } from "./expressions.ts";

/** Identities of the requests that expressions are evaluated on. */
export interface IdentityContext {
  readonly diagnostics: Diagnostics;
  /** Policies that establish each identity, by its variable. */
  readonly identities: ReadonlyMap<string, readonly string[]>;
  /** Policies that the requests have passed. */
  readonly route: PrecedingPolicies;
  /** Policies that run after the expression is evaluated; absent if none do. */
  readonly later?: ReadonlySet<string>;
}

/** Kinds of policies of a route. */
export interface PrecedingPolicies {
  /** Policies of the route itself. */
  readonly policies: readonly string[];
  /** Policies of its listeners that run before the route is chosen. */
  readonly preRouting: readonly string[];
  /**
   * All of these that establish an identity but let requests without it pass; empty if another policy decides on
   * access.
   */
  readonly optional: readonly string[];
  /** Whether one of these counts costs by the prices of models; absent if none does. */
  readonly countsCosts?: boolean;
  /** Known fields of the identities that all of these establish. */
  readonly identityFields: readonly IdentityFields[];
}

/** The fields that an identity can have; `undefined` for any. */
export interface IdentityFields {
  readonly variable: string;
  readonly fields: readonly string[] | undefined;
  /** Custom policies that provide the fields, by field; absent if it is an identity. */
  readonly providers?: ReadonlyMap<string, string>;
}

/**
 * Compiles an expression on a request, and reports identities that no policy establishes; returns `undefined` if
 * it is invalid (reported).
 */
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
 * Reports identities that are always null, because no policy checks credentials, and fields that an identity never
 * has; conditions on them would be constant. Returns the variables of which this, or a too early use, was
 * reported.
 */
export function checkIdentities(
  config: ExpressionConfig,
  expression: CompiledExpression | undefined,
  phase: CelPhase,
  context: IdentityContext,
): readonly string[] {
  const { origin } = config;
  const { variables = [] } = expression ?? {};
  const absent = absentIdentities(variables, context);
  for (const params of absent) context.diagnostics.report("absent-identity", origin, params);
  // Expressions of other phases are evaluated after all policies.
  const early = phase === "request" ? reportEarlyIdentity(origin, variables, context) : [];
  const reads = expression?.reads.filter(([variable = ""]) => !early.includes(variable)) ?? [];
  checkVariableFields(config, reads, context.route, context.diagnostics);
  return [...absent.map(({ variable }) => variable), ...early];
}

/** Reports fields of variables that never exist. `reads`: what an expression reads. */
export function checkVariableFields(
  { text, origin }: ExpressionConfig,
  reads: CompiledExpression["reads"],
  known: Pick<PrecedingPolicies, "identityFields">,
  diagnostics: Diagnostics,
): void {
  for (const [variable = "", field] of reads) {
    const fields = fieldsOf(variable, known);
    if (fields === undefined || field === undefined || fields.includes(field)) continue;
    const near = suggest(field, fields);
    const isProvided = known.identityFields.some(
      (each) => each.variable === variable && each.providers !== undefined,
    );
    const suggestion = near && `${variable}.${near}`;
    const at = text.indexOf(`${variable}.${field}`);
    const within = [at, at + variable.length + field.length + 1] as const;
    const place = at === -1 ? origin : { ...origin, within };
    const params = { variable, field, known: fields, isProvided, suggestion };
    diagnostics.report("unknown-identity-field", place, params);
  }
}

/** Reports and returns the identities that are only established later on the route. */
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

/**
 * Returns the fields that an identity can have, sorted; `undefined` if any, or if the variable is not an identity.
 */
function fieldsOf(
  variable: string,
  { identityFields }: Pick<PrecedingPolicies, "identityFields">,
): readonly string[] | undefined {
  const own = identityFields.filter((each) => each.variable === variable);
  const lists = own.map(({ fields }) => fields);
  if (lists.length === 0 || !lists.every((fields) => fields !== undefined)) return undefined;
  return [...new Set(lists.flat())].sort();
}

/**
 * Returns the identities among the variables that no policy of the route establishes, with the policies that
 * would.
 */
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

/** Returns the identities among the variables that requests can lack, with the policies that let these pass. */
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
