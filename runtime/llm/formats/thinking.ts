import type { JsonObject } from "../../cel/variables.ts";
import type { ReasoningBlock } from "../chat/content.ts";
import type { ChatRequest, Effort, Reasoning, Turn } from "../chat/request.ts";
import { claudeTraits } from "./claude-model.ts";
import { isOfDetails } from "./completions/reasoning-details.ts";
import { googleSignature } from "./google-signature.ts";
import { isMarked } from "./openai-reasoning.ts";

/** Minimum budget that Claude accepts, in tokens. */
const MIN_BUDGET = 1024;

/** Budgets for efforts, as the levels are commonly understood. */
const BUDGETS: { readonly [Each in Effort]: number } = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
};

/** Reasoning of a request in Claude's fields. */
export interface ClaudeReasoning {
  /** Maximum number of tokens with the reasoning; `undefined` if the client sets none and nothing is added. */
  readonly maxTokens: number | undefined;
  /** `thinking`; `undefined` to leave it out. */
  readonly thinking: JsonObject | undefined;
  /** `output_config.effort`; `undefined` to leave it out. */
  readonly effort: string | undefined;
  /** Whether the model reasons, which excludes sampling parameters and forced tool calls. */
  readonly isThinking: boolean;
  /** Whether the request may have `temperature`, `top_p` and `top_k`. */
  readonly takesSampling: boolean;
}

/** Returns the reasoning of a request for a model of Claude. `defaultMaxTokens`: limit without reasoning if the client sets none. */
export function claudeReasoning(request: ChatRequest, defaultMaxTokens: number): ClaudeReasoning {
  const { reasoning, model, turns } = request;
  const traits = claudeTraits(model, request.traits);
  const isWanted = reasoning !== undefined && reasoning.kind !== "off" && mayThink(turns);
  const plain = {
    maxTokens: request.maxTokens,
    thinking:
      reasoning?.kind === "off" && traits.reasonsByDefault ? { type: "disabled" } : undefined,
    effort: undefined,
    isThinking: false,
    takesSampling: traits.takesSampling,
  };
  if (!isWanted) return plain;
  const budget = reasoning.kind === "budget" ? reasoning.tokens : BUDGETS[reasoning.effort];
  const most = request.traits?.maxOutput ?? Number.POSITIVE_INFINITY;
  const maxTokens = request.maxTokens ?? Math.min(most, defaultMaxTokens + budget);
  const thinking = { isThinking: true, takesSampling: false, maxTokens };
  if (traits.isAdaptive) {
    return {
      ...thinking,
      thinking: { type: "adaptive", ...(traits.hidesReasoning && { display: "summarized" }) },
      effort: traits.effort(effortOf(reasoning)),
    };
  }
  // The limit includes the budget. Claude refuses budgets below the minimum.
  const budgetTokens = Math.min(budget, maxTokens - 1);
  if (budgetTokens < MIN_BUDGET) return { ...plain, maxTokens };
  return {
    ...thinking,
    thinking: { type: "enabled", budget_tokens: budgetTokens },
    effort: undefined,
  };
}

/** Returns the effort that is closest to a budget of tokens. */
export function effortOf(reasoning: Exclude<Reasoning, { kind: "off" }>): Effort {
  if (reasoning.kind === "effort") return reasoning.effort;
  if (reasoning.tokens < 2048) return "low";
  return reasoning.tokens < 8192 ? "medium" : "high";
}

/**
 * Whether Claude may reason: a turn that called tools with reasoning must start with signed reasoning, and a turn without it
 * did not reason.
 */
function mayThink(turns: readonly Turn[]): boolean {
  const last = turns.findLast(({ role }) => role === "assistant");
  const calls = last?.blocks.some(({ kind }) => kind === "tool-call") === true;
  const hasResults = turns.at(-1)?.blocks.some(({ kind }) => kind === "tool-result") === true;
  if (!calls || !hasResults) return true;
  return last.blocks.some(
    (block) =>
      block.kind === "redacted-reasoning" || (block.kind === "reasoning" && isSigned(block)),
  );
}

/** Whether reasoning was signed by a server of Claude, which refuses other signatures. */
export function isSigned({ signature }: ReasoningBlock): boolean {
  if (signature === undefined || isMarked(signature) || isOfDetails(signature)) return false;
  return googleSignature(signature) === undefined;
}
