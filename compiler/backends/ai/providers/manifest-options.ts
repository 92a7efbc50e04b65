import { type Schema, validated } from "../../../schema/schema.ts";
import { type ProviderKind, type ProviderOptions, providerOf, providers } from "./index.ts";

/** The specification's providers in its order: `llmProvider1` is an alias of the first. */
const ORDER = ["openai", "azureopenai", "anthropic", "gemini", "vertexai", "bedrock"] as const;

/** Returns the schema of each provider's options in manifests, by key and alias, and these keys. */
export function manifestProviders(): {
  readonly fields: Readonly<Record<string, Schema>>;
  readonly names: readonly string[];
} {
  const fields = ORDER.map((kind): readonly [string, Schema] => [kind, schemaOf(kind)]);
  const neutral = fields.map(([kind, schema], index): readonly [string, Schema] => [
    `llmProvider${index + 1}`,
    { ...schema, aliasOf: kind },
  ]);
  const others: readonly (readonly [string, Schema])[] = [
    ["azure", { ...schemaOf("azureopenai"), aliasOf: "azureopenai" }],
    ["custom", schemaOf("custom")],
  ];
  const all = [...fields, ...neutral, ...others];
  return { fields: Object.fromEntries(all), names: all.map(([name]) => name) };
}

function schemaOf(kind: ProviderKind): Schema {
  const { kubernetes, schema } = providerOf(kind);
  return kubernetes ? { description: schema.description ?? "", ...kubernetes.schema } : schema;
}

/** Returns the provider that a specification sets, with its options. */
export function readManifestOptions(spec: Readonly<Record<string, unknown>>): ProviderOptions {
  const { kind } = providers.find((each) => spec[each.kind] !== undefined) ?? { kind: "openai" };
  return optionsOf(kind, spec[kind]);
}

function optionsOf<Kind extends ProviderKind>(kind: Kind, value: unknown): ProviderOptions<Kind> {
  const { schema, kubernetes } = providerOf(kind);
  const options =
    kubernetes === undefined
      ? validated(schema, value)
      : kubernetes.lower(validated(kubernetes.schema, value));
  return { kind, value: options };
}
