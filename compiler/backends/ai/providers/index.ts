import { object, type Schema } from "../../../schema/schema.ts";
import { anthropic } from "./anthropic.ts";
import { azureopenai } from "./azureopenai.ts";
import { bedrock } from "./bedrock.ts";
import { custom, presetOptions } from "./custom.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import { apiField, CHAT_APIS } from "./openai-apis.ts";
import { isPreset, presets } from "./presets.ts";
import { type LlmProvider, type ModelParams, modelField } from "./provider.ts";
import { vertexai } from "./vertexai.ts";

/** Every LLM provider. */
const units = { openai, azureopenai, anthropic, gemini, vertexai, bedrock, custom };

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

/** Returns the schema of each provider's options in a file, by key and alias, known servers included. */
export function providerSchemas(): Readonly<Record<string, Schema>> {
  const own = providers.flatMap(({ kind, fileKeys, schema }): readonly [string, Schema][] => [
    [kind, { ...schema, misplacedFieldHints: MISPLACED }],
    ...fileKeys.map((key): [string, Schema] => [
      key,
      { ...schema, misplacedFieldHints: MISPLACED, aliasOf: kind },
    ]),
  ]);
  const known = Object.entries(presets).map(([name, { title, url }]): [string, Schema] => [
    name,
    { ...presetSchema, description: `${title}, at \`${url}\`.`, misplacedFieldHints: MISPLACED },
  ]);
  return Object.fromEntries([...own, ...known]);
}

/** Schema of the options of a known server. */
export const presetSchema = object({ model: modelField, api: apiField(CHAT_APIS) });

/** Returns the kind of provider for a word of a file: its name, an alias, or the name of a known server. */
export function kindOf(word: string): ProviderKind {
  if (isPreset(word)) return "custom";
  return (
    providers.find((each) => each.kind === word || each.fileKeys.includes(word))?.kind ?? "openai"
  );
}

/** Returns the options of a provider by its word in a file, for the parameters of a model. */
export function optionsOfModel(word: string, params: ModelParams): ProviderOptions {
  return isPreset(word)
    ? { kind: "custom", value: presetOptions(word, params) }
    : optionsOf(kindOf(word), params);
}

function optionsOf<Kind extends ProviderKind>(
  kind: Kind,
  params: ModelParams,
): ProviderOptions<Kind> {
  return { kind, value: providerOf<Kind>(kind).ofModel(params) };
}

const KEY = 'write the key next to `provider`: policies: { backendAuth: { key: "${NAME}" } }';
const SERVER = "write another server next to `provider`: baseUrl: URL";

/** Hints for fields that people expect among the options of a provider. */
const MISPLACED = {
  apiKey: KEY,
  key: KEY,
  token: KEY,
  baseUrl: SERVER,
  apiBase: SERVER,
  url: SERVER,
};
