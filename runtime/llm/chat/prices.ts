import type { LlmCost } from "../../cel/variables.ts";
import type { Usage } from "./usage.ts";

/** Prices of a million tokens, in US dollars. */
export interface TokenRates {
  readonly input?: number;
  readonly output?: number;
  /** Tokens read from the cache; absent: `input`. */
  readonly cacheRead?: number;
  /** Tokens written to the cache; absent: `input`. */
  readonly cacheWrite?: number;
  /** Tokens of reasoning; absent: `output`. */
  readonly reasoning?: number;
}

/** Prices of a model. */
export interface ModelPrice {
  readonly rates: TokenRates;
  /** Prices of prompts with more tokens, in ascending order. */
  readonly tiers?: readonly { readonly contextOver: number; readonly rates: TokenRates }[];
}

/** Prices of a provider's models, by name. */
export interface ModelPriceList {
  /** `undefined` if the price is not known. */
  get(model: string): ModelPrice | undefined;
}

/** Returns the costs of a call. */
export function costOf({ rates: own, tiers = [] }: ModelPrice, usage: Usage): LlmCost {
  const tier = tiers.findLast(({ contextOver }) => usage.input > contextOver);
  const rates = tier === undefined ? own : { ...own, ...tier.rates };
  const { input: perInput = 0, output: perOutput = 0 } = rates;
  const { cacheRead: perRead = perInput, cacheWrite: perWrite = perInput } = rates;
  const { reasoning: perReasoning = perOutput } = rates;
  const { cacheRead, cacheWrite, reasoning = 0 } = usage;
  const costs = {
    input: dollars(usage.input - cacheRead - cacheWrite, perInput),
    output: dollars(usage.output - reasoning, perOutput),
    cacheRead: dollars(cacheRead, perRead),
    cacheWrite: dollars(cacheWrite, perWrite),
    reasoning: dollars(reasoning, perReasoning),
  };
  return { total: Object.values(costs).reduce((sum, each) => sum + each, 0), ...costs };
}

function dollars(tokens: number, perMillion: number): number {
  return (Math.max(tokens, 0) * perMillion) / 1_000_000;
}
