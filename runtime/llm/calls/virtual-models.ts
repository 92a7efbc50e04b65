import type { LlmTarget, TargetChoice } from "./target.ts";

/** A target that is asked in the place of another model, as if the client had asked for this one. */
export function askedFor(model: string, target: LlmTarget): LlmTarget {
  return { ...target, requested: model };
}

/** Models that share requests: each is drawn as often as its weight says. */
export function byWeight(
  models: readonly (readonly [weight: number, choice: TargetChoice])[],
): TargetChoice {
  const total = models.reduce((sum, [weight]) => sum + weight, 0);
  return (model) => {
    let left = Math.random() * total;
    for (const [weight, choice] of models) {
      left -= weight;
      if (left < 0) return choice(model);
    }
    return models.at(-1)?.[1](model);
  };
}
