import { backendAi } from "../../../backends/ai/manifest-policies.ts";
import { backends } from "../../../backends/index.ts";
import { clientServerFields, simpleFields } from "../../../backends/parts/manifest-connection.ts";
import { type Fields, object, pick, type Schema } from "../../../schema/schema.ts";
import { policyFields, policyOnBackend } from "../policy-fields.ts";

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
  readonly extAuth: Schema;
  readonly ai: Schema;
  readonly mcp: Schema;
};

/** Returns `BackendFull` or one of its smaller forms: the given fields, of which at least one is required. */
export function backendPolicies<const Name extends keyof BackendFields>(names: readonly Name[]) {
  const mcpFields = policyFields("backend.mcp");
  const mcp = object(mcpFields, {
    atLeastOneOf: Object.keys(mcpFields),
    description: "Rules for who may use which items of MCP servers.",
  });
  const fields: BackendFields = {
    ...simpleFields,
    ...clientServerFields,
    transformation: policyOnBackend("transformation"),
    authorization: policyOnBackend("authorization"),
    extAuth: policyOnBackend("extAuth"),
    ai: backendAi,
    mcp,
  };
  return object(pick(fields, names), {
    atLeastOneOf: names,
    hasParts: true,
    description: "Connection settings and policies of the backend.",
  });
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
    "extAuth",
  ] as const),
  ...(["mcp", "ai"] as const),
];

/** Returns the kinds of a GatewayBackend, each with its own field. */
export function backendKinds(): Fields {
  const own = backends.flatMap(({ kubernetes: form }) => {
    if (form === undefined) return [];
    const schema: Schema = form.schema((names) => backendPolicies(names));
    const others = Object.entries(form.protocolFields ?? {}).map(
      ([field, description]) => [field, { ...schema, description }] as const,
    );
    return [[form.field, schema] as const, ...others];
  });
  return Object.fromEntries(own);
}

/** Returns the connection settings of a GatewayBackend. */
export function ownPolicies() {
  return backendPolicies(BACKEND_SECTIONS);
}
