import type { ReasoningBlock } from "../chat/content.ts";
import type { ChatRequest, Effort, Turn } from "../chat/request.ts";
import { googleSignature } from "./google-signature.ts";

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

/**
 * Returns the requested reasoning budget of Claude, in tokens; `undefined` if the request does not enable reasoning, or
 * Claude would refuse it.
 */
export function wantedThinking({ reasoning, turns }: ChatRequest): number | undefined {
  if (reasoning === undefined || reasoning.kind === "off" || !mayThink(turns)) return undefined;
  return reasoning.kind === "budget" ? reasoning.tokens : BUDGETS[reasoning.effort];
}

/** Limits the budget by the maximum number of tokens, which includes it. Claude refuses budgets below the minimum. */
export function thinkingWithin(wanted: number | undefined, limit: number): number | undefined {
  const budget = wanted === undefined ? 0 : Math.min(wanted, limit - 1);
  return budget >= MIN_BUDGET ? budget : undefined;
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
  return signature !== undefined && googleSignature(signature) === undefined;
}
