import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { declaredSection, longText } from "../../manifests/field-types.ts";
import { mergeBackendPolicies } from "../../model/backend-policies.ts";
import { hostAndPort } from "../../model/host-url.ts";
import {
  type Infer,
  integer,
  list,
  object,
  shortText,
  type ValueCheck,
  validated,
} from "../../schema/schema.ts";
import type {
  BackendSection,
  KubernetesBackendContext,
  KubernetesBackendForm,
  KubernetesPoliciesSchema,
  SelectedServer,
} from "../backend.ts";
import type { InferencePoolConfig } from "../inference-pool/inference-pool-config.ts";
import type { AiConfig, ProviderConfig, ServerAddress } from "./ai-config.ts";
import { GROUPS, PATH, PREFIX } from "./provider-fields.ts";
import { customManifestSchema } from "./providers/custom.ts";
import { manifestProviders, readManifestOptions } from "./providers/manifest-options.ts";
import { UNRESOLVED, withoutBrokenModels } from "./refused-models.ts";

/** Form of `ai` in a GatewayBackend: one provider, or groups of named ones, which policies can target by name. */
export const kubernetesAi: KubernetesBackendForm<KubernetesAiValue, AiConfig> = {
  field: "ai",
  schema: aiSchema,
  lower: ({ provider, groups = [] }, context) => {
    const { origin } = context;
    const only = provider && lowerProvider(provider, childOf(origin, "provider"), context);
    const named = groups.map(({ providers }, group) =>
      providers.map((each, index) => {
        const at = childOf(origin, "groups", group, "providers", index);
        const { config, service } = lowerProvider(each, at, context);
        return { config, section: { ...sectionOf(each, at), ...(service && { service }) } };
      }),
    );
    const ofService = only?.service && { name: only.config.name, service: only.service };
    const sections = [
      ...(ofService === undefined ? [] : [ofService]),
      ...named.flat().map(({ section }) => section),
    ];
    const groupsOf = named.map((group) => group.map(({ config }) => config));
    return {
      config: { groups: only === undefined ? groupsOf : [[only.config]] },
      sections: new Map(sections.map((section) => [section.name, section])),
    };
  },
  sectionNames: ({ groups = [] }) =>
    groups.flatMap(({ providers }) => providers.map(({ name }) => name)),
  withoutBroken: withoutBrokenModels,
  withPolicies: ({ groups, ...config }, policies) => ({
    ...config,
    groups: groups.map((group) =>
      group.map((provider) => {
        const own = policies.get(provider.name);
        const { policies: before } = provider;
        return { ...provider, policies: before ? mergeBackendPolicies(before, own) : own };
      }),
    ),
  }),
  withPools: ({ groups, ...config }, pools) => ({
    ...config,
    groups: groups.map((group) => group.map((each) => ofPool(each, pools.get(each.name)))),
  }),
};

/** Value of `ai` in a GatewayBackend, as validated by its schema. */
export type KubernetesAiValue = Infer<ReturnType<typeof aiSchema>>;

type NamedProvider = NonNullable<KubernetesAiValue["groups"]>[number]["providers"][number];
type Provider = NonNullable<KubernetesAiValue["provider"]>;

/** Returns a provider with the servers of its pool; the same one if it is behind none. */
function ofPool(provider: ProviderConfig, pool: InferencePoolConfig | undefined): ProviderConfig {
  if (pool === undefined) return provider;
  const { address, ...picking } = pool;
  const origin = provider.server?.origin ?? provider.origin;
  return { ...provider, server: { address, isBaseUrl: false, origin }, picking };
}

function sectionOf({ name, policies: fields }: NamedProvider, origin: Origin): BackendSection {
  return { name, ...(fields && { own: { fields, origin: childOf(origin, "policies") } }) };
}

/** A provider, and the Service or pool that it is behind; `undefined` for none. */
interface LoweredProvider {
  readonly config: ProviderConfig;
  readonly service: SelectedServer | undefined;
}

function lowerProvider(
  value: Provider | NamedProvider,
  origin: Origin,
  context: KubernetesBackendContext,
): LoweredProvider {
  const options = readManifestOptions(value);
  const { host, port, path, pathPrefix } = value;
  const at = childOf(origin, "custom", "backendRef");
  const service = serviceOf(value, at, context);
  const own = serverOf(host, port, childOf(origin, "host"));
  const address = service === "unknown" ? UNRESOLVED : service && addressOf(service, at, context);
  const config: ProviderConfig = {
    name: "name" in value ? value.name : options.kind,
    options,
    optionsOrigin: childOf(origin, options.kind),
    server: address === undefined ? own : { address, isBaseUrl: false, origin: at },
    port: host === undefined ? port : undefined,
    prefix: pathPrefix,
    path,
    tokenize: undefined,
    policies: undefined,
    origin,
  };
  return { config, service: service === "unknown" ? undefined : service };
}

/** Returns the address of a Service's port. That of a pool follows with its picker. */
function addressOf(
  { service, port }: SelectedServer,
  at: Origin,
  context: KubernetesBackendContext,
): string {
  return service.kind === "Service" ? context.address({ service, port }, at) : UNRESOLVED;
}

/**
 * Returns the Service or pool of a custom provider; `undefined` if it names none, "unknown" if it is missing
 * (reported).
 */
function serviceOf(
  value: Provider | NamedProvider,
  origin: Origin,
  context: KubernetesBackendContext,
): SelectedServer | "unknown" | undefined {
  const custom: unknown = Reflect.get(value, "custom");
  if (custom === undefined) return undefined;
  const { backendRef } = validated(customManifestSchema, custom);
  if (backendRef === undefined) return undefined;
  return context.server(backendRef, origin) ?? "unknown";
}

/**
 * Returns the server for `host`. With a port it is plain HTTP unless a policy sets TLS; without one it replaces
 * the provider's own server, over TLS.
 */
function serverOf(
  host: string | undefined,
  port: number | undefined,
  origin: Origin,
): ServerAddress | undefined {
  if (host === undefined) return undefined;
  const address = port === undefined ? `https://${host}` : hostAndPort(host, port);
  return { address, isBaseUrl: false, origin };
}

const serverFields = {
  host: shortText("Host of another server with the provider's API; the provider's own by default."),
  port: integer("Port of the server.", 1, 65535),
  path: longText(PATH),
  pathPrefix: longText(PREFIX),
};

/** Rule that a provider has one server. */
const oneServer: ValueCheck = {
  message: '"custom.backendRef" excludes "host" and "port"',
  field: "custom",
  holds: ({ host, port, custom }) =>
    (host === undefined && port === undefined) || !isBehindService(custom),
  cel: "(!has(self.host) && !has(self.port)) || !has(self.custom) || !has(self.custom.backendRef)",
};

function isBehindService(custom: unknown): boolean {
  return typeof custom === "object" && custom !== null && Object.hasOwn(custom, "backendRef");
}

function aiSchema(policies: KubernetesPoliciesSchema) {
  const { fields: options, names } = manifestProviders();
  const provider = object(
    { ...options, ...serverFields },
    { exactlyOneOf: names, checks: [oneServer], description: "The only provider." },
  );
  const named = object(
    {
      name: declaredSection,
      policies: policies(["tcp", "tls", "http", "auth", "tunnel", "health", "ai"]),
      ...options,
      ...serverFields,
    },
    { required: ["name"], exactlyOneOf: names, checks: [oneServer] },
  );
  const group = object(
    {
      providers: list(named, {
        minItems: 1,
        maxItems: 32,
        description:
          "Providers that share the requests of the group, in proportion to their health.",
      }),
    },
    {
      required: ["providers"],
      checks: [
        {
          message: "provider names must be unique within a group",
          field: "providers",
          holds: ({ providers }) => {
            const found = namesOf(providers);
            return new Set(found).size === found.length;
          },
          cel: "self.providers.all(p, self.providers.exists_one(q, q.name == p.name))",
        },
      ],
    },
  );
  return object(
    {
      provider,
      groups: list(group, {
        minItems: 1,
        maxItems: 32,
        description: GROUPS,
      }),
    },
    {
      description: "One LLM provider, or groups of several.",
      exactlyOneOf: ["provider", "groups"],
      checks: [
        {
          message: "provider names must be unique across all groups",
          field: "groups",
          holds: ({ groups }) => hasUniqueNames(groups),
          cel: UNIQUE_PROVIDERS,
        },
      ],
    },
  );
}

/** Expression for unique names: each group shares names only with itself. */
const UNIQUE_PROVIDERS =
  "!has(self.groups) || self.groups.all(g, self.groups.filter(h, " +
  "sets.intersects(g.providers.map(p, p.name), h.providers.map(p, p.name))).size() == 1)";

/** Whether no name occurs in two groups. */
function hasUniqueNames(groups: unknown): boolean {
  if (!Array.isArray(groups)) return true;
  const names = groups.flatMap((group: { readonly providers?: unknown } | null) => [
    ...new Set(namesOf(group?.providers)),
  ]);
  return new Set(names).size === names.length;
}

/** Returns the names of unvalidated providers. */
function namesOf(providers: unknown): readonly unknown[] {
  if (!Array.isArray(providers)) return [];
  return providers.flatMap((provider: { readonly name?: unknown } | null) => provider?.name ?? []);
}
