import { backends } from "../../../backends/index.ts";
import { sectionName } from "../../../manifests/field-types.ts";
import {
  type Fields,
  list,
  object,
  pick,
  type Schema,
  unsupported,
  withUnsupported,
} from "../../../schema/schema.ts";
import { policyFields } from "../policy-fields.ts";
import { aiFields, llmProviderFields, PROVIDERS } from "./ai.ts";
import { simpleFields } from "./connection.ts";

/** What of the backend section this version enforces: paths such as `mcp.authorization`. */
export type SupportedFields = ReadonlySet<string>;

/** The sections of `BackendFull`. */
type BackendFields = {
  readonly tcp: typeof simpleFields.tcp;
  readonly tls: typeof simpleFields.tls;
  readonly http: typeof simpleFields.http;
  readonly auth: typeof simpleFields.auth;
  readonly ai: Schema;
  readonly mcp: Schema;
};

const WORDS: Readonly<Record<string, string>> = {
  tcp: "TCP settings of backends",
  tls: "TLS to backends",
  http: "HTTP settings of backends",
  auth: "authentication to backends",
  ai: "LLM policies",
  "auth.aws": "AWS credentials",
  "auth.gcp": "Google Cloud credentials",
};

/** `BackendFull` and its smaller forms: the fields named, of which at least one is there. */
export function backendPolicies<const Name extends keyof BackendFields>(
  names: readonly Name[],
  built: SupportedFields,
) {
  const mcpFields = policyFields("backend.mcp");
  const mcp = object(mcpFields, { atLeastOneOf: Object.keys(mcpFields) });
  const fields: BackendFields = {
    tcp: builtParts("tcp", simpleFields.tcp, built),
    tls: builtParts("tls", simpleFields.tls, built),
    http: builtParts("http", simpleFields.http, built),
    auth: builtParts("auth", simpleFields.auth, built),
    ai: builtParts("ai", object(aiFields, { atLeastOneOf: Object.keys(aiFields) }), built),
    mcp,
  };
  return object(pick(fields, names), { atLeastOneOf: names, hasParts: true });
}

/** A section of which everything, some fields, or nothing is built. */
function builtParts<Value>(
  name: string,
  schema: Schema<Value>,
  built: SupportedFields,
): Schema<Value> {
  if (built.has(name)) return schema;
  const { properties = {} } = schema;
  const isBuilt = (part: string) => built.has(`${name}.${part}`);
  if (!Object.keys(properties).some(isBuilt))
    return { ...schema, unsupported: WORDS[name] ?? name };
  return {
    ...schema,
    properties: withUnsupported(properties, (part) =>
      isBuilt(part) ? undefined : (WORDS[`${name}.${part}`] ?? `${name}.${part}`),
    ),
  };
}

const SIMPLE = ["tcp", "tls", "http", "auth"] as const;

function aiSchema(built: SupportedFields) {
  const provider = object(llmProviderFields, { exactlyOneOf: PROVIDERS });
  const named = object(
    {
      name: sectionName,
      policies: backendPolicies([...SIMPLE, "ai"], built),
      ...llmProviderFields,
    },
    { required: ["name"], exactlyOneOf: PROVIDERS },
  );
  const group = object(
    { providers: list(named, { minItems: 1, maxItems: 32 }) },
    {
      required: ["providers"],
      checks: [
        {
          message: "provider names are unique within a group",
          field: "providers",
          holds: ({ providers }) => {
            const names = namesOf(providers);
            return new Set(names).size === names.length;
          },
          cel: "self.providers.all(p, self.providers.exists_one(q, q.name == p.name))",
        },
      ],
    },
  );
  return object(
    { provider, groups: list(group, { minItems: 1, maxItems: 32 }) },
    {
      exactlyOneOf: ["provider", "groups"],
      checks: [
        {
          message: "provider names are unique across all groups",
          field: "groups",
          holds: ({ groups }) => hasUniqueNames(groups),
          cel: UNIQUE_PROVIDERS,
        },
      ],
    },
  );
}

/** Of the groups only a group itself shares names with it. */
const UNIQUE_PROVIDERS =
  "!has(self.groups) || self.groups.all(g, self.groups.filter(h, " +
  "sets.intersects(g.providers.map(p, p.name), h.providers.map(p, p.name))).size() == 1)";

/** Whether no name stands in two groups. */
function hasUniqueNames(groups: unknown): boolean {
  if (!Array.isArray(groups)) return true;
  const names = groups.flatMap((group: { readonly providers?: unknown } | null) => [
    ...new Set(namesOf(group?.providers)),
  ]);
  return new Set(names).size === names.length;
}

/** The names of providers, as far as they are any. */
function namesOf(providers: unknown): readonly unknown[] {
  if (!Array.isArray(providers)) return [];
  return providers.flatMap((provider: { readonly name?: unknown } | null) => provider?.name ?? []);
}

/** The kinds of a GatewayBackend, each with its own field. */
export function backendKinds(built: SupportedFields): Fields {
  const own = backends.flatMap(({ kubernetes: form }) =>
    form === undefined
      ? []
      : [[form.field, form.schema((names) => backendPolicies(names, built))] as const],
  );
  return { ...Object.fromEntries(own), ai: unsupported("LLM backends", aiSchema(built)) };
}

/** What a GatewayBackend says of how it is reached. */
export function ownPolicies(built: SupportedFields) {
  return backendPolicies([...SIMPLE, "mcp", "ai"], built);
}
