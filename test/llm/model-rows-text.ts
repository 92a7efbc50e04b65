import path from "node:path";
import { root } from "../harness/root.ts";

/** File that `npm run models` writes. */
export const MODEL_ROWS_FILE = path.join(root, "compiler/backends/ai/model-rows.ts");

/** File with the prices of each vendor, which `npm run models` writes, too. */
export const VENDOR_PRICES_FILE = path.join(root, "runtime/llm/chat/vendor-prices.ts");

/** Packages that the catalogue is written from. */
interface ModelSources {
  readonly MODEL_CONFIGS: Readonly<Record<string, ModelConfig>>;
  readonly calcPrice: (
    usage: Readonly<Record<string, number>>,
    model: string,
    options: { readonly providerId: string; readonly timestamp: Date },
  ) => { readonly model_price: Readonly<Record<string, Price>> } | null;
}

type Price =
  | number
  | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] }
  | undefined;

/** A model of llm-zoo. */
interface ModelConfig {
  readonly provider: string;
  readonly shortName: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly openRouterOnly: boolean;
  readonly serviceTier?: string;
  readonly deprecated?: boolean;
  readonly retired?: boolean;
  readonly capabilities: {
    readonly supportsVision: boolean;
    readonly supportsNativePdf: boolean;
    readonly supportsNativeAudio: boolean;
    readonly supportsReasoning: boolean;
    readonly supportsReasoningEffort: boolean;
    readonly supportsAdaptiveThinking: boolean;
    readonly reasoningEffort: string;
    readonly maxReasoningEffort?: string;
    readonly supportedReasoningEfforts?: readonly string[];
    readonly reasoningMode?: string;
  };
}

/** Loads the packages; `undefined` if they are not installed, as only this file needs them. */
export async function modelSources(): Promise<ModelSources | undefined> {
  const packages = ["llm-zoo", "@pydantic/genai-prices"];
  try {
    const [models, prices] = await Promise.all(packages.map((name) => import(name)));
    return { MODEL_CONFIGS: models.MODEL_CONFIGS, calcPrice: prices.calcPrice };
  } catch {
    return undefined;
  }
}

/** Day of the prices and traits: when the packages were published. */
const DATE = "2026-09-23";

/** Vendors by their names in the first package, and in the second. */
const VENDORS: Readonly<Record<string, readonly [system: string, priced: string]>> = {
  anthropic: ["anthropic", "anthropic"],
  openai: ["openai", "openai"],
  google: ["gcp.gemini", "google"],
  xai: ["x_ai", "x-ai"],
  deepseek: ["deepseek", "deepseek"],
  moonshot: ["moonshot_ai", "moonshotai"],
};

/** Returns the text of the module with the models that are known. */
export function modelRowsText({ MODEL_CONFIGS, calcPrice }: ModelSources): string {
  const chosen = new Map<string, ModelConfig>();
  for (const model of Object.values(MODEL_CONFIGS)) {
    const isVariant = model.openRouterOnly || model.serviceTier || model.capabilities.reasoningMode;
    if (VENDORS[model.provider] === undefined || isVariant) continue;
    const before = chosen.get(model.shortName);
    // A model that reasons is listed twice: the row with reasoning has all that it takes.
    const isBetter =
      model.capabilities.supportsReasoning && !before?.capabilities.supportsReasoning;
    if (before === undefined || isBetter) chosen.set(model.shortName, model);
  }
  const rows = [...chosen.values()].map((model) => rowOf(model, calcPrice)).toSorted();
  return `// Written by "npm run models" from the packages llm-zoo and @pydantic/genai-prices.

/** Day of the rows. */
export const MODEL_ROWS_DATE = "${DATE}";

/**
 * Models that are known: system, name, context window and maximum output in tokens, inputs, reasoning with its efforts, whether
 * sampling parameters are taken, state, and prices of input, output, cache reads and cache writes in US dollars for a million
 * tokens. Prices of prompts above a number of tokens follow.
 */
export const MODEL_ROWS = \`
${rows.join("\n")}
\`;
`;
}

/** Returns the text of the module with the prices of vendors, from that of the models. */
export function vendorPricesText(modelRows: string): string {
  const lines = modelRows.split("\n").map((line) => line.split(" "));
  const tables = Object.values(VENDORS).map(([system]) => {
    const rows = lines.filter(
      ([vendor, , , , , , , , prices = "-"]) => vendor === system && prices !== "-",
    );
    const text = rows
      .map(([, name, , , , , , , ...prices]) => [name, ...prices].join(" "))
      .join("\n");
    const constant = system.toUpperCase().replace(/\W/g, "_");
    return `
/** Prices of \`${system}\`. */
export const ${constant}_PRICES = \`
${text}
\`;
`;
  });
  return `// Written by "npm run models". Each row is that of a model: prices of input, output, cache reads and cache writes in US
// dollars for a million tokens; then those of prompts above a number of tokens.
${tables.join("")}`;
}

function rowOf(model: ModelConfig, calcPrice: ModelSources["calcPrice"]): string {
  const { provider, shortName, contextWindow, maxOutputTokens, capabilities } = model;
  const [system = ""] = VENDORS[provider] ?? [];
  const { supportsVision, supportsNativePdf, supportsNativeAudio } = capabilities;
  const inputs = [
    "text",
    ...(supportsVision ? ["image"] : []),
    ...(supportsNativePdf ? ["pdf"] : []),
    ...(supportsNativeAudio ? ["audio"] : []),
  ];
  const state = model.retired ? "retired" : model.deprecated ? "superseded" : "current";
  return [
    ...[system, shortName, contextWindow, maxOutputTokens, inputs.join(","), reasoningOf(model)],
    ...[takesSampling(model) ? "sampling" : "fixed", state, pricesOf(model, calcPrice)],
  ].join(" ");
}

const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"];

function reasoningOf({ provider, shortName, capabilities }: ModelConfig): string {
  const { supportsReasoning, supportsReasoningEffort, supportsAdaptiveThinking } = capabilities;
  if (!supportsReasoning) return "none";
  // Google's guide to thinking: models of Gemini 2.5 take budgets.
  const takesBudget = provider === "anthropic" || /^gemini-2\.5-/.test(shortName);
  if (!supportsReasoningEffort) return takesBudget ? "budget" : "always";
  if (provider === "anthropic" && !supportsAdaptiveThinking) return "budget";
  const most = capabilities.maxReasoningEffort ?? capabilities.reasoningEffort;
  // Only the first version of GPT-5 has the lowest effort.
  const least = /^gpt-5(?:-|$)/.test(shortName) ? 0 : 1;
  const all = EFFORTS.slice(least, EFFORTS.indexOf(most) + 1);
  const known = capabilities.supportedReasoningEfforts ?? all;
  return `${supportsAdaptiveThinking ? "adaptive" : "effort"}:${known.join(",")}`;
}

/** Sources: OpenAI's guide to reasoning, and Anthropic's guides to migrate to 4.7 and later. */
function takesSampling({ provider, shortName, capabilities }: ModelConfig): boolean {
  if (provider === "openai") return !capabilities.supportsReasoning;
  if (provider !== "anthropic") return true;
  const [, major, minor = "0"] = /-(\d)(?:-(\d))?(?!\d)/.exec(shortName) ?? [];
  return Number(`${major}.${minor}`) < 4.7;
}

function pricesOf(
  { provider, shortName }: ModelConfig,
  calcPrice: ModelSources["calcPrice"],
): string {
  const [, providerId = ""] = VENDORS[provider] ?? [];
  const timestamp = new Date(DATE);
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, shortName, {
    providerId,
    timestamp,
  });
  if (found === null) return "-";
  const prices = found.model_price;
  const all = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"].map(
    (key) => prices[key],
  );
  const base = all.map((price) => (typeof price === "object" ? price.base : (price ?? "")));
  const [tier] = all.flatMap((price) => (typeof price === "object" ? price.tiers : []));
  if (tier === undefined) return base.join("/");
  const above = all.map((price) =>
    typeof price === "object" ? (price.tiers[0]?.price ?? "") : (price ?? ""),
  );
  return `${base.join("/")} ${tier.start} ${above.join("/")}`;
}
