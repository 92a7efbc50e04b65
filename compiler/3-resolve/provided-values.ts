import type { IdentityFields } from "../backends/parts/known-identities.ts";
import type { PolicyKind, PolicyUse } from "../ir/policies.ts";
import type { PolicyReading } from "../policies/custom/read-policy.ts";
import { type PolicyConfig, policies, policyOf } from "../policies/index.ts";
import type { ResolveContext } from "../policies/policy.ts";

/** Adds the values that policies provide to the known fields of variables; those of policies with mistakes are not known. */
export function afterPolicies(
  route: ResolveContext["route"],
  all: readonly PolicyConfig[],
  uses: readonly PolicyUse[],
): ResolveContext["route"] {
  const provided = all.flatMap(({ kind, origin }): readonly IdentityFields[] => {
    const { variable, provides } = policyOf(kind).traits;
    if (variable === undefined || provides === undefined) return [];
    const use = uses.find((each) => each.kind === kind && each.origin === origin);
    return [(use && providedBy(use)) ?? { variable, fields: undefined, providers: new Map() }];
  });
  return provided.length === 0
    ? route
    : { ...route, identityFields: [...route.identityFields, ...provided] };
}

/** Returns the values that a policy provides; `undefined` if it is of a kind that provides none. */
function providedBy<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): IdentityFields | undefined {
  const { variable, provides } = policyOf(kind).traits;
  if (variable === undefined || provides === undefined) return undefined;
  const providers = provides(settings);
  return { variable, fields: [...providers.keys()], providers };
}

/**
 * Returns the values that policies of listeners provide, by the variables of all kinds that provide any: without such a policy,
 * its variable has no field.
 */
export function providedBefore(
  preRouting: readonly PolicyConfig[],
  reading: PolicyReading,
): readonly IdentityFields[] {
  const none = policies.flatMap(({ traits }): readonly IdentityFields[] => {
    const { variable } = traits;
    const isProvider = variable !== undefined && "provides" in traits;
    return isProvider ? [{ variable, fields: [], providers: new Map() }] : [];
  });
  return [...none, ...preRouting.flatMap((policy) => declaredBy(policy, reading) ?? [])];
}

function declaredBy<Kind extends PolicyKind>(
  { kind, config }: PolicyConfig<Kind>,
  reading: PolicyReading,
): IdentityFields | undefined {
  const { variable, declares } = policyOf(kind).traits;
  if (variable === undefined || declares === undefined) return undefined;
  const providers = declares(config, reading);
  return {
    variable,
    fields: providers && [...providers.keys()],
    providers: providers ?? new Map(),
  };
}
