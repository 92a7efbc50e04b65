import type { LlmCost } from "../../cel/variables.ts";
import { BILLED_UNITS, type Units } from "./units.ts";
import type { Usage } from "./usage.ts";

/** Prices of a million tokens and of single units, in US dollars. */
export interface TokenRates extends UnitRates {
  readonly input?: number;
  readonly output?: number;
  /** Tokens read from the cache; absent: `input`. */
  readonly cacheRead?: number;
  /** Tokens written to the cache; absent: `input`. */
  readonly cacheWrite?: number;
  /** Tokens of reasoning; absent: `output`. */
  readonly reasoning?: number;
  /** Audio tokens in prompts that were not read from the cache; absent: `input`. */
  readonly inputAudio?: number;
  /** Audio tokens in completions; absent: `output`. */
  readonly outputAudio?: number;
}

/** Prices of single units, in US dollars. */
interface UnitRates {
  readonly character?: number;
  readonly second?: number;
  readonly image?: number;
  readonly document?: number;
  readonly search?: number;
}

/** Rate of each unit. */
const UNIT_RATES = {
  characters: "character",
  seconds: "second",
  images: "image",
  documents: "document",
  searches: "search",
} as const satisfies Readonly<Record<keyof Units, keyof UnitRates>>;

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

/** Returns the prices of a call, which may depend on the length of its prompt. */
export function ratesOf({ rates, tiers = [] }: ModelPrice, usage: Usage): TokenRates {
  const tier = tiers.findLast(({ contextOver }) => usage.input > contextOver);
  return tier === undefined ? rates : { ...rates, ...tier.rates };
}

/**
 * Whether the prices cover a call: one of its units, or its tokens. Tokens of a prompt alone say nothing about sound and images,
 * which have units if the provider bills no tokens.
 */
export function coversCall(rates: TokenRates, { output }: Usage, units?: Units): boolean {
  if (units === undefined) return rates.input !== undefined || rates.output !== undefined;
  const used = BILLED_UNITS.filter((unit) => (units[unit] ?? 0) > 0);
  if (used.some((unit) => rates[UNIT_RATES[unit]] !== undefined)) return true;
  const isMedia = used.some((unit) => MEDIA.has(unit));
  return (rates.input !== undefined || rates.output !== undefined) && (!isMedia || output > 0);
}

const MEDIA: ReadonlySet<keyof Units> = new Set(["characters", "seconds", "images"]);

/** Returns the costs of a call. `share`: of the usual prices. */
export function costOf(rates: TokenRates, usage: Usage, units?: Units, share = 1): LlmCost {
  const { input: perInput = 0, output: perOutput = 0 } = rates;
  const { cacheRead = perInput, cacheWrite = perInput, reasoning = perOutput } = rates;
  const { inputAudio = perInput, outputAudio = perOutput } = rates;
  const heard = Math.max((usage.inputAudio ?? 0) - (usage.cachedAudio ?? 0), 0);
  const thought = usage.reasoning ?? 0;
  const spoken = usage.outputAudio ?? 0;
  const read = usage.input - usage.cacheRead - usage.cacheWrite - heard;
  const costs = {
    input: dollars(read, perInput, share),
    output: dollars(usage.output - thought - spoken, perOutput, share),
    cacheRead: dollars(usage.cacheRead, cacheRead, share),
    cacheWrite: dollars(usage.cacheWrite, cacheWrite, share),
    reasoning: dollars(thought, reasoning, share),
    inputAudio: dollars(heard, inputAudio, share),
    outputAudio: dollars(spoken, outputAudio, share),
    units: units === undefined ? 0 : costOfUnits(rates, units, share),
  };
  return { total: totalOf(costs), ...costs };
}

/** Returns the costs of some tokens; `perMillion` is the price of a million. */
function dollars(tokens: number, perMillion: number, share: number): number {
  return (share * Math.max(tokens, 0) * perMillion) / 1_000_000;
}

function costOfUnits(rates: TokenRates, units: Units, share: number): number {
  return BILLED_UNITS.reduce(
    (sum, unit) => sum + share * (units[unit] ?? 0) * (rates[UNIT_RATES[unit]] ?? 0),
    0,
  );
}

function totalOf(costs: Omit<LlmCost, "total">): number {
  const tokens = costs.input + costs.output + costs.cacheRead + costs.cacheWrite + costs.reasoning;
  return tokens + costs.inputAudio + costs.outputAudio + costs.units;
}

/** Returns the costs of the tokens of a model; `undefined` if it has no price. `share`: of the usual prices. */
export function costOfTokens(
  prices: ModelPriceList | undefined,
  model: string | undefined,
  usage: Usage,
  share = 1,
): LlmCost | undefined {
  const price = model === undefined ? undefined : prices?.get(model);
  const rates = price && ratesOf(price, usage);
  return rates && coversCall(rates, usage) ? costOf(rates, usage, undefined, share) : undefined;
}

/** Formats US dollars for logs, with at most nine decimals. */
export function dollarText(amount: number): string {
  return String(Math.round(amount * 1e9) / 1e9);
}
