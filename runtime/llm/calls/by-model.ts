import type { ChatCall } from "./chat-call.ts";
import type { LlmTarget } from "./target.ts";

/** A target for some models. */
export interface ModelBranch {
  /** Matches their names. */
  readonly models: RegExp;
  /** Condition of the request; absent if all requests of the models have this target. */
  readonly when?: (call: ChatCall) => boolean;
  readonly target: LlmTarget;
}

/** Creates a target whose format depends on the model: the first branch that matches, or `others`. */
export function byModel(branches: readonly ModelBranch[], others: LlmTarget): LlmTarget {
  return {
    ...others,
    forModel: (model, call) =>
      branches.find(({ models, when }) => models.test(model) && (when?.(call) ?? true))?.target ??
      others,
  };
}
