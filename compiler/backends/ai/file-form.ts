import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  type Infer,
  list,
  listOfParts,
  object,
  type Schema,
  shortText,
  validated,
} from "../../schema/schema.ts";
import { needsField } from "../../schema/value-checks.ts";
import type { LowerContext } from "../backend.ts";
import type { BackendPoliciesValue } from "../parts/policies-schema.ts";
import type { AiConfig, ProviderConfig } from "./ai-config.ts";
import { GROUPS } from "./provider-fields.ts";
import {
  kindOf,
  optionsOfModel,
  type ProviderKind,
  type ProviderOptions,
  presetSchema,
  providerOf,
  providerSchemas,
} from "./providers/index.ts";
import { isPreset } from "./providers/presets.ts";
import { oneServer, providerServerFields, readServer } from "./server-fields.ts";
import { tokenize } from "./tokenize.ts";

/** Returns the schema of `ai` in a file. */
export function aiSchema(policies: Schema<BackendPoliciesValue>) {
  const fields = providerFields(policies);
  const named = object(fields, {
    required: ["name", "provider"],
    checks: [oneServer],
  });
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
      checks: [
        ...["name", ...Object.keys(providerServerFields()), "tokenize", "policies"].map((field) =>
          needsField(field, "provider"),
        ),
        oneServer,
      ],
      misplacedFieldHints: {
        routes: "write it in the policies of the route: policies: { ai: { routes: {...} } }",
      },
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
      description: "The provider, and optionally a fixed model.",
    }),
    ...providerServerFields(),
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
  { name, provider = {}, tokenize: isTokenized = false, policies, ...server }: ProviderValue,
  origin: Origin,
  context: LowerContext,
): ProviderConfig {
  const [key, options] = readOptions(provider);
  return {
    name: name ?? (isPreset(key) ? key : options.kind),
    options,
    optionsOrigin: childOf(origin, "provider", key),
    ...readServer(server, origin),
    port: undefined,
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
  if (isPreset(key)) return [key, optionsOfModel(key, validated(presetSchema, value))];
  return [key, optionsOf(kindOf(key), value)];
}

function optionsOf<Kind extends ProviderKind>(kind: Kind, value: unknown): ProviderOptions<Kind> {
  return { kind, value: validated(providerOf(kind).schema, value) };
}
