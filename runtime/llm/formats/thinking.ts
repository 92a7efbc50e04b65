import type { ReasoningBlock } from "../chat/content.ts";
import type { ChatRequest, Effort, Turn } from "../chat/request.ts";
import { googleSignature } from "./google-signature.ts";

/** The least budget that Claude takes. */
const MIN_BUDGET = 1024;

/** Tokens of thinking for an effort, as its levels are commonly understood. */
const budgets: { readonly [Each in Effort]: number } = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
};

/** How many tokens a request asks Claude to think with; undefined: it does not, or Claude would refuse to. */
export function wantedThinking({ reasoning, turns }: ChatRequest): number | undefined {
  if (reasoning === undefined || reasoning.kind === "off" || !mayThink(turns)) return undefined;
  return reasoning.kind === "budget" ? reasoning.tokens : budgets[reasoning.effort];
}

/** The budget within a limit of tokens: it is part of the limit, and smaller ones are refused. */
export function thinkingWithin(wanted: number | undefined, limit: number): number | undefined {
  const budget = wanted === undefined ? 0 : Math.min(wanted, limit - 1);
  return budget >= MIN_BUDGET ? budget : undefined;
}

/** A turn that called tools while thinking has to begin with its signed thoughts; one that has none did not think. */
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

/** Signed by a server of Claude: what others have signed is refused there. */
export function isSigned({ signature }: ReasoningBlock): boolean {
  return signature !== undefined && googleSignature(signature) === undefined;
}
