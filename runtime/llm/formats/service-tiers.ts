import type { LlmFormatName } from "../chat/formats.ts";
import type { ServiceTier, Usage } from "../chat/usage.ts";

/** APIs whose responses say with which priority they were served. */
type TieredFormat = "openai" | "messages" | "generateContent" | "converse";

/** The word of each API for a tier; absent if it has none. */
const WORDS: { readonly [Format in TieredFormat]: { readonly [Tier in ServiceTier]?: string } } = {
  openai: { standard: "default", priority: "priority", flex: "flex", scale: "scale" },
  messages: { standard: "standard", priority: "priority", batch: "batch" },
  generateContent: { standard: "standard", priority: "priority", flex: "flex" },
  converse: { standard: "default", priority: "priority", flex: "flex", reserved: "reserved" },
};

const TIERS: readonly ServiceTier[] = [
  "standard",
  "priority",
  "flex",
  "scale",
  "batch",
  "reserved",
];

/** Returns usage with the tier of a provider's word; unchanged if the word is unknown, or leaves the choice to the provider. */
export function withTier(
  usage: Usage | undefined,
  format: TieredFormat,
  word: unknown,
): Usage | undefined {
  if (usage === undefined || typeof word !== "string") return usage;
  const tier = TIERS.find((each) => WORDS[format][each] === word);
  return tier === undefined ? usage : { ...usage, tier };
}

/** Returns the word for a tier; `undefined` if the API has none. */
export function tierWord(format: TieredFormat, tier: ServiceTier | undefined): string | undefined {
  return tier && WORDS[format][tier];
}

/** Whether the format of a client has no word for the tier of a response. */
export function lacksTier(client: LlmFormatName, usage: Usage | undefined): boolean {
  const format = TIERED[client];
  return (
    usage?.tier !== undefined && format !== undefined && tierWord(format, usage.tier) === undefined
  );
}

const TIERED: { readonly [Name in LlmFormatName]?: TieredFormat } = {
  completions: "openai",
  responses: "openai",
  messages: "messages",
  generateContent: "generateContent",
  converse: "converse",
};
