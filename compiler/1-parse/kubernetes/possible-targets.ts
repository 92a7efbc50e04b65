import type { PossibleTarget } from "../../manifests/manifests.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { resourceKind } from "./kinds.ts";
import { objectFields } from "./kubernetes-object.ts";

/** Returns the possible targets of a policy, as far as its malformed references name them. */
export function possibleTargets(spec: ConfigValue | undefined): readonly PossibleTarget[] {
  const { targetRefs, targetSelectors } = objectFields(spec);
  const named = listOf(targetRefs).map((each): PossibleTarget => {
    const { name } = objectFields(each);
    return { ...kindIn(each), ...(typeof name === "string" && { name }) };
  });
  const selected = listOf(targetSelectors).map(kindIn);
  // A policy without targets was meant for some.
  const all = [...named, ...selected];
  return all.length === 0 ? [{}] : all;
}

/** Returns the entries of a list; a value that is no list stands for one unknown entry. */
function listOf(value: ConfigValue | undefined): readonly ConfigValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [null];
}

function kindIn(target: ConfigValue): PossibleTarget {
  const { group, kind } = objectFields(target);
  if (typeof group !== "string" || typeof kind !== "string") return {};
  const known = resourceKind(group, kind);
  return known === undefined ? {} : { kind: known };
}
