import { choice, list, object, type Schema, shortText } from "../../../schema/schema.ts";
import { dynamicSchema } from "../../standalone/dynamic.ts";
import { aiFields, llmProviderFields, PROVIDERS } from "./ai.ts";
import { authorizationSchema, mcpAuthenticationSchema } from "./authentication.ts";
import { simpleFields } from "./connection.ts";
import { labelSelector, longText, port, resource, sectionName } from "./field-types.ts";

/** What of the backend section this version enforces: paths such as `mcp.authorization`. */
export type SupportedFields = ReadonlySet<string>;

const later = (schema: Schema, what: string): Schema => ({ ...schema, unsupported: what });

/** `BackendMCP`. */
const mcpFields: Readonly<Record<string, Schema>> = {
  authorization: authorizationSchema,
  authentication: mcpAuthenticationSchema,
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
export function backendPolicies(names: readonly string[], built: SupportedFields): Schema {
  const all: Readonly<Record<string, Schema>> = {
    ...simpleFields,
    ai: object(aiFields, { atLeastOneOf: Object.keys(aiFields) }),
    mcp: object(
      Object.fromEntries(
        Object.entries(mcpFields).map(([name, schema]) => [
          name,
          built.has(`mcp.${name}`) ? schema : later(schema, `MCP ${name}`),
        ]),
      ),
      { atLeastOneOf: Object.keys(mcpFields) },
    ),
  };
  const fields = names.map((name): [string, Schema] => {
    const schema = all[name] ?? {};
    return [name, name === "mcp" ? schema : builtParts(name, schema, built)];
  });
  return object(Object.fromEntries(fields), { atLeastOneOf: names });
}

/** A section of which everything, some fields, or nothing is built. */
function builtParts(name: string, schema: Schema, built: SupportedFields): Schema {
  if (built.has(name)) return schema;
  const parts = Object.entries(schema.properties ?? {});
  if (!parts.some(([part]) => built.has(`${name}.${part}`)))
    return later(schema, WORDS[name] ?? name);
  const properties = parts.map(([part, each]): [string, Schema] => [
    part,
    built.has(`${name}.${part}`)
      ? each
      : later(each, WORDS[`${name}.${part}`] ?? `${name}.${part}`),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

const SIMPLE = ["tcp", "tls", "http", "auth"];

function targetSchema(built: SupportedFields): Schema {
  const target = object(
    {
      host: shortText("The server's host."),
      port,
      path: longText("The path; /mcp, or /sse for SSE."),
      protocol: choice("How it is spoken to.", ["StreamableHTTP", "SSE"]),
      policies: backendPolicies([...SIMPLE, "mcp"], built),
    },
    { required: ["host", "port"] },
  );
  const selector = object(
    { namespaces: labelSelector, services: labelSelector },
    { atLeastOneOf: ["namespaces", "services"] },
  );
  return object(
    { name: sectionName, selector, static: target },
    { required: ["name"], exactlyOneOf: ["selector", "static"] },
  );
}

function aiSchema(built: SupportedFields): Schema {
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

/** GatewayBackend. */
export function backendSchema(built: SupportedFields): Schema {
  const ai = aiSchema(built);
  return resource(
    object(
      {
        static: object({ host: shortText("The host."), port }, { required: ["host", "port"] }),
        ai: later(ai, "LLM backends"),
        mcp: object(
          {
            targets: list(targetSchema(built), { minItems: 1, maxItems: 32 }),
            sessionRouting: choice("Whether sessions are kept.", ["Stateful"], {
              default: "Stateful",
              unsupportedValues: { Stateless: "stateless MCP sessions" },
            }),
            failureMode: choice("What a broken target does to the others.", [
              "FailClosed",
              "FailOpen",
            ]),
          },
          { required: ["targets"] },
        ),
        dynamicForwardProxy: dynamicSchema(
          "request (Host) or TLS connection (SNI)",
          "80, or 443 with TLS",
        ),
        policies: backendPolicies([...SIMPLE, "mcp", "ai"], built),
      },
      { exactlyOneOf: ["static", "ai", "mcp", "dynamicForwardProxy"] },
    ),
  );
}
