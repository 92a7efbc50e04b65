import type { Schema } from "../../../schema/schema.ts";
import { anthropic } from "./anthropic.ts";
import { azureopenai } from "./azureopenai.ts";
import { bedrock } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import type { LlmProvider } from "./provider.ts";
import { vertexai } from "./vertexai.ts";

/** Every LLM provider. */
const units = { openai, azureopenai, anthropic, gemini, vertexai, bedrock };

/** Name of a provider, as in manifests. */
export type ProviderKind = keyof typeof units;

/** Options of each provider, as validated by its schema. */
export type ProviderValues = {
  readonly [Kind in ProviderKind]: Parameters<(typeof units)[Kind]["url"]>[0];
};

/** A provider with its options. */
export type ProviderOptions<Kind extends ProviderKind = ProviderKind> = {
  [Each in Kind]: { readonly kind: Each; readonly value: ProviderValues[Each] };
}[Kind];

/** The providers by kind, with a common type that code over all kinds can use. */
type Providers = {
  readonly [Kind in ProviderKind]: LlmProvider<Kind, ProviderValues[Kind]>;
};

const byKind: Providers = units;

/** Every provider. */
export const providers: readonly Providers[ProviderKind][] = Object.values(byKind);

/** Returns the unit of a provider. */
export function providerOf<Kind extends ProviderKind>(kind: Kind): Providers[Kind] {
  return byKind[kind];
}

/** Returns the schema of each provider's options in a file, by key and alias. */
export function providerSchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    providers.flatMap(({ kind, fileKeys, schema }) => [
      [kind, { ...schema, misplacedFieldHints: MISPLACED }],
      ...fileKeys.map((key) => [key, { ...schema, misplacedFieldHints: MISPLACED, aliasOf: kind }]),
    ]),
  );
}

const KEY = 'write the key next to `provider`: policies: { backendAuth: { key: "${NAME}" } }';
const SERVER = "write another server next to `provider`: hostOverride: HOST:PORT";

/** Hints for fields that people expect among the options of a provider. */
const MISPLACED = {
  apiKey: KEY,
  key: KEY,
  token: KEY,
  baseUrl: SERVER,
  apiBase: SERVER,
  url: SERVER,
};
