import { backendAi } from "../../../backends/ai/manifest-policies.ts";
import { backends } from "../../../backends/index.ts";
import { type Fields, object, pick, type Schema, withUnsupported } from "../../../schema/schema.ts";
import { policyFields, policyOnBackend } from "../policy-fields.ts";
import { clientServerFields, simpleBackend, simpleFields } from "./connection.ts";

/** Supported fields of the backend section, as paths such as `mcp.authorization`. */
export type SupportedFields = ReadonlySet<string>;

/** The sections of `BackendFull`. */
type BackendFields = {
  readonly tcp: typeof simpleFields.tcp;
  readonly tls: typeof simpleFields.tls;
  readonly http: typeof simpleFields.http;
  readonly auth: typeof simpleFields.auth;
  readonly tunnel: typeof clientServerFields.tunnel;
  readonly health: typeof clientServerFields.health;
  readonly transformation: Schema;
  readonly authorization: Schema;
  readonly ai: Schema;
  readonly mcp: Schema;
};

const WORDS: Readonly<Record<string, string>> = {
  tcp: "TCP settings of backends",
  tls: "TLS to backends",
  http: "HTTP settings of backends",
  auth: "authentication to backends",
  "auth.aws": "AWS credentials",
  "auth.gcp": "Google Cloud credentials",
};

/** Returns `BackendFull` or one of its smaller forms: the given fields, of which at least one is required. */
export function backendPolicies<const Name extends keyof BackendFields>(
  names: readonly Name[],
  built: SupportedFields,
) {
  const mcpFields = policyFields("backend.mcp");
  const mcp = object(mcpFields, {
    atLeastOneOf: Object.keys(mcpFields),
    description: "Rules for who may use which items of MCP servers.",
  });
  const fields: BackendFields = {
    tcp: builtParts("tcp", simpleFields.tcp, built),
    tls: builtParts("tls", simpleFields.tls, built),
    http: builtParts("http", simpleFields.http, built),
    auth: builtParts("auth", simpleFields.auth, built),
    ...clientServerFields,
    transformation: policyOnBackend("transformation"),
    authorization: policyOnBackend("authorization"),
    ai: backendAi(simpleBackend),
    mcp,
  };
  return object(pick(fields, names), {
    atLeastOneOf: names,
    hasParts: true,
    description: "Connection settings and policies of the backend.",
  });
}

/** Returns a section that is supported as a whole, in part, or not yet. */
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

/** The sections of `BackendFull`. */
export const BACKEND_SECTIONS = [
  ...([
    "tcp",
    "tls",
    "http",
    "auth",
    "tunnel",
    "health",
    "transformation",
    "authorization",
  ] as const),
  ...(["mcp", "ai"] as const),
];

/** Returns the kinds of a GatewayBackend, each with its own field. */
export function backendKinds(built: SupportedFields): Fields {
  const own = backends.flatMap(({ kubernetes: form }) =>
    form === undefined
      ? []
      : [[form.field, form.schema((names) => backendPolicies(names, built))] as const],
  );
  return Object.fromEntries(own);
}

/** Returns the connection settings of a GatewayBackend. */
export function ownPolicies(built: SupportedFields) {
  return backendPolicies(BACKEND_SECTIONS, built);
}
