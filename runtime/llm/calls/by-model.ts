import type { LlmTarget } from "./target.ts";

/** A provider that speaks of some models in another format: those whose names begin with a key, and the others. */
export function byModel(
  branches: Readonly<Record<string, LlmTarget>>,
  others: LlmTarget,
): LlmTarget {
  const prefixes = Object.entries(branches);
  return {
    ...others,
    forModel: (model) => prefixes.find(([prefix]) => model.startsWith(prefix))?.[1] ?? others,
  };
}
