import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  type Infer,
  list,
  listOfParts,
  needsField,
  object,
  type Schema,
  shortText,
  validated,
} from "../../schema/schema.ts";
import type { LowerContext } from "../backend.ts";
import type { BackendPoliciesValue } from "../parts/policies-schema.ts";
import type { AiConfig, ProviderConfig } from "./ai-config.ts";
import { othersLikeOpenAi } from "./others-like-openai.ts";
import { GROUPS, overrideFields } from "./provider-fields.ts";
import {
  type ProviderKind,
  type ProviderOptions,
  providerOf,
  providerSchemas,
  providers,
} from "./providers/index.ts";
import { tokenize } from "./tokenize.ts";

/** Returns the schema of `ai` in a file. */
export function aiSchema(policies: Schema<BackendPoliciesValue>) {
  const fields = providerFields(policies);
  const named = object(fields, { required: ["name", "provider"] });
  const group = object(
    {
      providers: listOfParts(named, {
        minItems: 1,
        maxItems: 32,
        description: "Providers that share the requests of the group.",
      }),
    },
    { required: ["providers"] },
  );
  return object(
    {
      ...fields,
      groups: list(group, {
        minItems: 1,
        maxItems: 32,
        description: GROUPS,
      }),
    },
    {
      exactlyOneOf: ["provider", "groups"],
      checks: ["name", "hostOverride", "pathOverride", "tokenize", "policies"].map((field) =>
        needsField(field, "provider"),
      ),
      description: "One LLM provider, or groups of several.",
    },
  );
}

/** Value of `ai`, as validated by its schema. */
export type AiValue = Infer<ReturnType<typeof aiSchema>>;

function providerFields(policies: Schema<BackendPoliciesValue>) {
  const schemas = providerSchemas();
  return {
    name: shortText("Name of the provider in logs, in metrics and for clients."),
    provider: object(schemas, {
      exactlyOneOf: Object.keys(schemas),
      misplacedFieldHints: othersLikeOpenAi(
        "for a server with OpenAI's API, write `openai: {}`, and hostOverride: HOST:PORT next to `provider`",
      ),
      description: "The provider, and optionally a fixed model.",
    }),
    ...overrideFields,
    tokenize,
    policies,
  };
}

type ProviderValue = Pick<AiValue, Exclude<keyof AiValue, "groups">>;

/** Converts a validated `ai` to canonical form. */
export function lowerAi(value: AiValue, context: LowerContext): AiConfig {
  const { origin } = context;
  if (value.groups === undefined) return { groups: [[lowerProvider(value, origin, context)]] };
  const groups = value.groups.map(({ providers: members }, group) =>
    members.flatMap((member, index) => {
      const at = childOf(origin, "groups", group, "providers", index);
      return member === undefined ? [] : [lowerProvider(member, at, context)];
    }),
  );
  // Omits groups whose providers all have mistakes.
  return { groups: groups.filter((members) => members.length > 0) };
}

function lowerProvider(
  {
    name,
    provider = {},
    hostOverride,
    pathOverride,
    tokenize: isTokenized = false,
    policies,
  }: ProviderValue,
  origin: Origin,
  context: LowerContext,
): ProviderConfig {
  const [key, options] = readOptions(provider);
  return {
    name: name ?? options.kind,
    options,
    optionsOrigin: childOf(origin, "provider", key),
    server: hostOverride,
    serverOrigin: childOf(origin, "hostOverride"),
    port: undefined,
    path: pathOverride,
    tokenize: isTokenized ? childOf(origin, "tokenize") : undefined,
    policies: context.policies(policies, childOf(origin, "policies")),
    origin,
  };
}

/** Returns the key of the provider that is set, which may be an alias, and its options. */
function readOptions(
  given: Readonly<Record<string, unknown>>,
): readonly [key: string, options: ProviderOptions] {
  const [key = "", value] = Object.entries(given).find(([, each]) => each !== undefined) ?? [];
  const { kind } = providers.find((each) => each.kind === key || each.fileKeys.includes(key)) ?? {
    kind: "openai",
  };
  return [key, optionsOf(kind, value)];
}

function optionsOf<Kind extends ProviderKind>(kind: Kind, value: unknown): ProviderOptions<Kind> {
  return { kind, value: validated(providerOf(kind).schema, value) };
}
