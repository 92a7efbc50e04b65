import { isJsonObject } from "../../runtime/json/json-object.ts";
import type { ModelPrice, TokenRates } from "../../runtime/llm/chat/prices.ts";
import type { Effort, ModelTraits } from "../../runtime/llm/chat/request.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** Maximum price of a million tokens, in US dollars. */
export const MAX_RATE = 1_000_000_000;

/** A model of a catalog. */
export interface CatalogModel extends Partial<ModelPrice> {
  /** Parts of requests that it takes; absent if the catalog has none. */
  readonly traits?: ModelTraits;
}

/** Prices and traits of models by provider and model. */
export type ModelPrices = Readonly<Record<string, Readonly<Record<string, CatalogModel>>>>;

/** Entry of a ConfigMap with a catalog, unless a reference names another one. */
export const CATALOG_ENTRY = "catalog.json";

/** A source of prices, as configured. */
export interface CatalogSource {
  readonly catalog:
    | { readonly file: string }
    | { readonly text: string }
    | { readonly value: unknown };
  readonly origin: Origin;
}

/** Reads a catalog; returns what is wrong with it as a string. */
export function readModelPrices(value: unknown): ModelPrices | string {
  const problems: string[] = [];
  const prices = mapFields(fieldsOf(value).providers, (provider, name) =>
    mapFields(fieldsOf(provider).models, (model, id): CatalogModel => {
      const at = `providers.${name}.models.${id}`;
      const { rates, tiers, traits: given } = fieldsOf(model);
      const traits =
        given === undefined ? {} : { traits: readTraits(given, `${at}.traits`, problems) };
      if (rates === undefined && given !== undefined) return traits;
      const own = readRates(rates, `${at}.rates`, problems);
      const all = Array.isArray(tiers) ? tiers : [];
      const read = all.map((tier, index) => readTier(tier, `${at}.tiers[${index}]`, problems));
      const isRising = read.every(
        ({ contextOver }, index) => contextOver > (read[index - 1]?.contextOver ?? -1),
      );
      if (!isRising) problems.push(`${at}.tiers are not sorted by "contextOver"`);
      return { rates: own, ...(read.length > 0 && { tiers: read }), ...traits };
    }),
  );
  if (!isJsonObject(value) || !isJsonObject(value.providers))
    return 'the field "providers" is missing';
  return problems[0] ?? prices;
}

/** Efforts of reasoning, ascending. */
export const EFFORTS: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];
/** Ways of a model to reason. */
export const REASONING_STYLES = ["none", "always", "budget", "adaptive", "effort"] as const;

function readTraits(value: unknown, at: string, problems: string[]): ModelTraits {
  const { maxOutput, reasoning, efforts, sampling } = fieldsOf(value);
  const isWrong = (name: string) => problems.push(`${at}.${name} is not valid`);
  if (maxOutput !== undefined && !(typeof maxOutput === "number" && maxOutput >= 1))
    isWrong("maxOutput");
  const style = REASONING_STYLES.find((each) => each === reasoning);
  if (reasoning !== undefined && style === undefined) isWrong("reasoning");
  const taken = EFFORTS.filter((each) => Array.isArray(efforts) && efforts.includes(each));
  if (efforts !== undefined && taken.length === 0) isWrong("efforts");
  if (sampling !== undefined && typeof sampling !== "boolean") isWrong("sampling");
  return {
    ...(typeof maxOutput === "number" && { maxOutput }),
    ...(style !== undefined && { reasoning: style }),
    ...(taken.length > 0 && { efforts: taken }),
    ...(typeof sampling === "boolean" && { takesSampling: sampling }),
  };
}

/** Merges catalogs: later ones replace models of earlier ones. */
export function mergeModelPrices(all: readonly ModelPrices[]): ModelPrices {
  const merged: Record<string, Readonly<Record<string, CatalogModel>>> = {};
  for (const prices of all)
    for (const [provider, models] of Object.entries(prices))
      merged[provider] = { ...merged[provider], ...models };
  return merged;
}

function readTier(
  value: unknown,
  at: string,
  problems: string[],
): NonNullable<ModelPrice["tiers"]>[number] {
  const { contextOver, rates } = fieldsOf(value);
  const isCount = typeof contextOver === "number" && contextOver >= 0;
  if (!isCount) problems.push(`${at}.contextOver is not a number of tokens`);
  return {
    contextOver: isCount ? contextOver : 0,
    rates: readRates(rates, `${at}.rates`, problems),
  };
}

const RATES = [
  ...(["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const),
  ...(["inputAudio", "outputAudio"] as const),
  ...(["character", "second", "image", "document", "search"] as const),
] as const;

function readRates(value: unknown, at: string, problems: string[]): TokenRates {
  const fields = fieldsOf(value);
  for (const key of Object.keys(fields))
    if (!RATES.some((rate) => rate === key)) problems.push(`${at} has no field "${key}"`);
  const found = RATES.flatMap((key) => {
    const given = fields[key];
    if (given === undefined) return [];
    const isDecimal = typeof given === "number" || (typeof given === "string" && given !== "");
    const rate = isDecimal ? Number(given) : Number.NaN;
    if (rate >= 0 && rate <= MAX_RATE) return [[key, rate] as const];
    problems.push(`${at}.${key} is not a price`);
    return [];
  });
  return Object.fromEntries(found);
}

type Fields = Readonly<Record<string, unknown>>;

function mapFields<Result>(
  value: unknown,
  change: (value: unknown, name: string) => Result,
): Readonly<Record<string, Result>> {
  const entries = Object.entries(fieldsOf(value));
  return Object.fromEntries(entries.map(([name, each]) => [name, change(each, name)]));
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
