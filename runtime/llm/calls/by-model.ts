import type { ChatCall } from "./chat-call.ts";
import type { LlmTarget } from "./target.ts";

/** A target for some requests. */
export interface ModelBranch {
  /** It is for requests that are in one of them. */
  readonly cases: readonly ModelCase[];
  readonly target: LlmTarget;
}

/** Requests of some models. */
interface ModelCase {
  /** Matches their names. */
  readonly models: RegExp;
  /** Condition of the request; absent if all requests of the models are meant. */
  readonly when?: (call: ChatCall) => boolean;
}

/** Creates a target whose format depends on the model: the first branch that matches, or `others`. */
export function byModel(branches: readonly ModelBranch[], others: LlmTarget): LlmTarget {
  return {
    ...others,
    forModel: (model, call) => {
      const isMeant = ({ models, when }: ModelCase) => models.test(model) && (when?.(call) ?? true);
      return branches.find(({ cases }) => cases.some(isMeant))?.target ?? others;
    },
  };
}
