import { LlmRefusal } from "../chat/llm-error.ts";
import type { ConditionalChoice, LlmTarget, TargetChoice } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";

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

/** Models by conditions; `chosen` gives the place of the first one that holds, undefined: none does. */
export function byCondition(
  chosen: (request: TransformedRequest) => number | undefined,
  models: readonly TargetChoice[],
): ConditionalChoice {
  return (model, request) => {
    const place = chosen(request);
    if (place !== undefined) return models[place]?.(model);
    const message = `no condition of the model "${model}" holds for this request`;
    throw new LlmRefusal({ kind: "invalid", message, field: "model" });
  };
}
