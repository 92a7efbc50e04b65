import { type Exchange, logFields } from "../../http/exchange.ts";
import type { RuleVerdict } from "../../policies/rule-verdict.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { AnyTarget, ConditionalChoice } from "./target.ts";

/** Decides who may use a model. */
export type ModelRules = (exchange: Exchange) => RuleVerdict;

/** One of several entries of a model. */
export interface ModelEntry<Target extends AnyTarget> {
  /** Whether the headers of a request choose it; absent if all do. */
  readonly matches?: (exchange: Exchange) => boolean;
  /** Absent if everybody may use it. */
  readonly authorize?: ModelRules;
  readonly targets: ConditionalChoice<Target>;
}

/**
 * Chooses the first entry that matches a request and whose rules allow it; none if no entry matches. Throws LlmRefusal if
 * the rules of all matching entries deny it.
 */
export function byEntry<Target extends AnyTarget>(
  entries: readonly ModelEntry<Target>[],
): ConditionalChoice<Target> {
  return (model, conditions) => {
    const { request } = conditions;
    let denied: RuleVerdict | undefined;
    for (const { matches, authorize, targets } of entries) {
      if (matches?.(request) === false) continue;
      const verdict = authorize?.(request);
      if (verdict === undefined || verdict.isAllowed) return targets(model, conditions);
      denied ??= verdict;
    }
    if (denied === undefined) return undefined;
    throw notOpen(request, model, denied);
  };
}

/** Returns the refusal of a model that rules deny, and logs the rule. */
export function notOpen(
  { record }: Exchange,
  model: string | undefined,
  { rule }: RuleVerdict,
): LlmRefusal {
  logFields(record).set("rule", rule);
  const message = `the model "${model}" is not open to this caller`;
  return new LlmRefusal({ kind: "permission", message, field: "model" });
}
