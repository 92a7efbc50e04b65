import type { LlmTarget } from "./target.ts";

/** Creates a target whose format depends on the model: by the prefix of its name, or `others`. */
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
