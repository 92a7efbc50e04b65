import { LlmRefusal } from "../chat/llm-error.ts";
import { type Affinity, shareOf } from "./affinity.ts";
import type { ConditionalChoice, LlmTarget } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";

/** Returns a target that requests a model instead of the client's. */
export function requesting(model: string, target: LlmTarget): LlmTarget {
  return { ...target, requested: model };
}

/** Distributes requests among models in proportion to their weights, at random or by affinity. */
export function byWeight(
  models: readonly (readonly [weight: number, choice: ConditionalChoice])[],
  affinity?: Affinity,
): ConditionalChoice {
  const total = models.reduce((sum, [weight]) => sum + weight, 0);
  return (model, request) => {
    const share = affinity === undefined ? Math.random() : shareOf(affinity(request));
    let left = share * total;
    for (const [weight, choice] of models) {
      left -= weight;
      if (left < 0) return choice(model, request);
    }
    return models.at(-1)?.[1](model, request);
  };
}

/** Chooses a model by conditions. `chosen` returns the index of the first one that holds, or `undefined`. */
export function byCondition(
  chosen: (request: TransformedRequest) => number | undefined,
  models: readonly ConditionalChoice[],
): ConditionalChoice {
  return (model, request) => {
    const place = chosen(request);
    if (place !== undefined) return models[place]?.(model, request);
    const message = `no condition of the model "${model}" holds for this request`;
    throw new LlmRefusal({ kind: "invalid", message, field: "model" });
  };
}
