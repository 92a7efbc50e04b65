/** A vendor whose prices are known, by its `gen_ai.provider.name`. */
export type PricedVendor =
  | "anthropic"
  | "openai"
  | "gcp.gemini"
  | "x_ai"
  | "deepseek"
  | "moonshot_ai";

/** Vendors of the models that a provider serves, by its `gen_ai.provider.name`. */
const VENDORS: Readonly<Record<string, readonly PricedVendor[]>> = {
  anthropic: ["anthropic"],
  openai: ["openai"],
  "azure.ai.openai": ["openai"],
  "gcp.gemini": ["gcp.gemini"],
  "gcp.vertex_ai": ["gcp.gemini", "anthropic"],
  "aws.bedrock": ["anthropic"],
  x_ai: ["x_ai"],
  deepseek: ["deepseek"],
  moonshot_ai: ["moonshot_ai"],
};

/** Returns the vendors whose models a provider serves, as far as their prices are known. */
export function pricedVendors(system: string): readonly PricedVendor[] {
  return VENDORS[system] ?? [];
}
