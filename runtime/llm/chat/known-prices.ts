import type { ModelPrice, ModelPriceList, TokenRates } from "./prices.ts";

/**
 * Returns the prices of the models in the tables of vendors, which `own` overrides. Models are also found by names with a
 * region, a vendor, a version or a date.
 */
export function knownPrices(
  tables: readonly string[],
  own: readonly (readonly [model: string, price: ModelPrice])[] = [],
): ModelPriceList {
  const overrides = new Map(own);
  const known = new Map(tables.flatMap((table) => table.trim().split("\n").map(parseRow)));
  const found = new Map<string, ModelPrice | undefined>();
  return {
    get: (model) => {
      if (found.has(model)) return found.get(model);
      const price = overrides.get(model) ?? known.get(shortModelName(model));
      if (found.size === MAX_FOUND) found.clear();
      found.set(model, price);
      return price;
    },
  };
}

/** Number of names of models whose prices are found without a search. Clients and providers choose the names. */
const MAX_FOUND = 200;

/** Removes regions, vendors, versions of deployments and dates from the name of a model. */
function shortModelName(name: string): string {
  return name
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z]+\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/@.*$/, "")
    .replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
}

function parseRow(line: string): readonly [model: string, price: ModelPrice] {
  const [model = "", prices = "", contextOver, above = ""] = line.split(" ");
  return [model, parsePrice(prices, contextOver, above)];
}

/** Parses the rates of a model, and those of prompts with more than `contextOver` tokens. */
function parsePrice(prices: string, contextOver: string | undefined, above: string): ModelPrice {
  const rates = parseRates(prices);
  if (contextOver === undefined) return { rates };
  return { rates, tiers: [{ contextOver: Number(contextOver), rates: parseRates(above) }] };
}

/** Parses prices of input, output, cache reads and cache writes: `1.25/10/0.125/`. */
function parseRates(text: string): TokenRates {
  const numbers = text.split("/");
  const named = (["input", "output", "cacheRead", "cacheWrite"] as const).flatMap((key, index) => {
    const number = numbers[index] ?? "";
    return number === "" ? [] : [[key, Number(number)]];
  });
  return Object.fromEntries(named);
}
