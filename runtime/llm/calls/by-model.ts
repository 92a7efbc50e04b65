import type { LlmTarget } from "./target.ts";

/** A provider that speaks of some models in another format: those whose names begin with a prefix, and the others. */
export function byModel(
  branches: readonly (readonly [prefix: string, target: LlmTarget])[],
  others: LlmTarget,
): LlmTarget {
  return {
    ...others,
    forModel: (model) => branches.find(([prefix]) => model.startsWith(prefix))?.[1] ?? others,
  };
}
