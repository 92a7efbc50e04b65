import type { Schema } from "../../../schema/schema.ts";
import { anthropic } from "./anthropic.ts";
import { azureopenai } from "./azureopenai.ts";
import { bedrock } from "./bedrock.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import type { LlmProvider } from "./provider.ts";
import { vertexai } from "./vertexai.ts";

/** Every provider of models. */
const units = { openai, azureopenai, anthropic, gemini, vertexai, bedrock };

/** The name of a provider, as manifests have it. */
export type ProviderKind = keyof typeof units;

/** The options of each provider, as its schema lets them through. */
export type ProviderValues = {
  readonly [Kind in ProviderKind]: Parameters<(typeof units)[Kind]["url"]>[0];
};

/** A provider with its options. */
export type ProviderOptions<Kind extends ProviderKind = ProviderKind> = {
  [Each in Kind]: { readonly kind: Each; readonly value: ProviderValues[Each] };
}[Kind];

/** The providers as code sees them that asks any of them. */
type Providers = {
  readonly [Kind in ProviderKind]: LlmProvider<Kind, ProviderValues[Kind]>;
};

const byKind: Providers = units;

/** Every provider. */
export const providers: readonly Providers[ProviderKind][] = Object.values(byKind);

/** The unit of a provider. */
export function providerOf<Kind extends ProviderKind>(kind: Kind): Providers[Kind] {
  return byKind[kind];
}

/** The shape of each provider's options in a file, by every key that it may have. */
export function providerSchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    providers.flatMap(({ kind, fileKeys, schema }) => [
      [kind, { ...schema, misplacedFieldHints: besideProvider }],
      ...fileKeys.map((key) => [
        key,
        { ...schema, misplacedFieldHints: besideProvider, aliasOf: kind },
      ]),
    ]),
  );
}

const KEY = 'the key stands beside `provider`: policies: { backendAuth: { key: "${NAME}" } }';
const SERVER = "another server stands beside `provider`: hostOverride: HOST:PORT";

/** What people look for among the options of a provider. */
const besideProvider = {
  apiKey: KEY,
  key: KEY,
  token: KEY,
  baseUrl: SERVER,
  apiBase: SERVER,
  url: SERVER,
};
