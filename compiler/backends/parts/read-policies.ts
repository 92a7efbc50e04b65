import type { PromptMessage } from "../../../runtime/llm/formats/prompt-messages.ts";
import { defaultConnections } from "../../../runtime/net/default-connections.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies, BackendTlsConfig } from "../../model/backend-policies.ts";
import type { CloudAuthConfig } from "../../model/cloud-credentials.ts";
import type { LlmPolicies } from "../../model/llm-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { readKeepAlive } from "../../schema/keep-alive.ts";
import { lowerPromptGuard } from "../ai/guard-file-form.ts";
import { readHealth } from "../ai/health.ts";
import { type LlmPoliciesValue, readPromptCaching, routeTypeOf } from "../ai/policies-schema.ts";
import { AZURE_SCOPE, type BackendPoliciesValue } from "./policies-schema.ts";

/** The parts of a validated `policies` that say how a backend is reached; undefined when it has none. */
export function readBackendPolicies(
  policies: BackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { backendTLS, backendAuth, http, tcp, ai, health } = policies ?? {};
  const read: BackendPolicies = {
    ...(backendTLS && { tls: readTls(backendTLS, childOf(origin, "backendTLS")) }),
    ...(backendAuth && { auth: readAuth(backendAuth, childOf(origin, "backendAuth")) }),
    ...(http && {
      http: {
        version: http.version,
        requestTimeout: time(http.requestTimeout),
        origin: childOf(origin, "http"),
      },
    }),
    ...(tcp && { tcp: readTcp(tcp, childOf(origin, "tcp")) }),
    ...(ai && { ai: readLlm(ai, childOf(origin, "ai")) }),
    ...(health && { health: readHealth(health, childOf(origin, "health")) }),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

type TlsValue = NonNullable<BackendPoliciesValue["backendTLS"]>;
type AuthValue = NonNullable<BackendPoliciesValue["backendAuth"]>;
type TcpValue = NonNullable<BackendPoliciesValue["tcp"]>;

function readTls(value: TlsValue, origin: Origin): BackendTlsConfig {
  return {
    cert: value.cert,
    key: value.key,
    root: value.root,
    hostname: value.hostname,
    verification: value.insecure === true ? "none" : value.insecureHost === true ? "chain" : "full",
    alpn: value.alpn,
    subjectAltNames: value.subjectAltNames,
    origin,
    alpnOrigin: childOf(origin, "alpn"),
  };
}

function readAuth(
  { key, aws, azure, gcp }: AuthValue,
  origin: Origin,
): NonNullable<BackendPolicies["auth"]> {
  if (azure !== undefined) return { ...readAzure(azure), origin };
  if (aws !== undefined) return { ...readAws(aws), origin };
  if (gcp !== undefined) {
    const token = gcp.type === "IdToken" || gcp.type === "idToken" ? "id" : "access";
    return { kind: "gcp", token, audience: gcp.audience, origin };
  }
  if (key === undefined) return { kind: "passthrough", origin };
  if (typeof key === "string" || "kind" in key) {
    return { kind: "key", key, keyOrigin: childOf(origin, "key"), origin };
  }
  return { kind: "file", file: { kind: "path", file: key.file }, origin };
}

function readAzure({
  explicitConfig = {},
  scope = AZURE_SCOPE,
}: NonNullable<AuthValue["azure"]>): CloudAuthConfig {
  const { clientSecret, managedIdentity, workloadIdentity } = explicitConfig;
  if (clientSecret !== undefined) {
    const { tenant_id: tenantId, client_id: clientId, client_secret } = clientSecret;
    const source = {
      kind: "clientSecret",
      tenantId,
      clientId,
      clientSecret: client_secret,
    } as const;
    return { kind: "azure", scope, source };
  }
  if (managedIdentity !== undefined) {
    const identity = managedIdentity.userAssignedIdentity ?? {};
    return { kind: "azure", scope, source: { kind: "managedIdentity", identity } };
  }
  const kind = workloadIdentity === undefined ? "ambient" : "workloadIdentity";
  return { kind: "azure", scope, source: { kind } };
}

function readAws({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  region,
  service,
}: NonNullable<AuthValue["aws"]>): CloudAuthConfig {
  const keys =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { kind: "texts" as const, texts: { accessKeyId, secretAccessKey, sessionToken } };
  return { kind: "aws", keys, region, service };
}

function readTcp(value: TcpValue, origin: Origin): NonNullable<BackendPolicies["tcp"]> {
  const keepAlive = value.keepalives ?? value.keepalive;
  return {
    keepAlive: keepAlive && readKeepAlive(keepAlive, defaultConnections.keepAlive),
    connectTimeout: time(value.connectTimeout),
    origin,
  };
}

function readLlm(
  {
    routes,
    defaults,
    overrides,
    modelAliases,
    prompts,
    promptCaching,
    promptGuard,
    providerHeader,
    streamKeepAlive,
  }: LlmPoliciesValue,
  origin: Origin,
): LlmPolicies {
  const at = (part: string) => childOf(origin, part);
  return {
    ...(routes && {
      routes: { value: mapValues(routes, routeTypeOf), origin: at("routes") },
    }),
    ...(defaults && { defaults: { value: defaults, origin: at("defaults") } }),
    ...(overrides && { overrides: { value: overrides, origin: at("overrides") } }),
    ...(providerHeader !== undefined && {
      providerHeader: { value: providerHeader, origin: at("providerHeader") },
    }),
    ...(streamKeepAlive !== undefined && {
      streamKeepAlive: { value: parseTimer(streamKeepAlive), origin: at("streamKeepAlive") },
    }),
    ...(modelAliases && { modelAliases: { value: modelAliases, origin: at("modelAliases") } }),
    ...(promptCaching && {
      promptCaching: { value: readPromptCaching(promptCaching), origin: at("promptCaching") },
    }),
    ...(promptGuard && {
      promptGuard: {
        value: lowerPromptGuard(promptGuard, at("promptGuard")),
        origin: at("promptGuard"),
      },
    }),
    ...(prompts && {
      prompts: {
        value: { prepend: readPrompts(prompts.prepend), append: readPrompts(prompts.append) },
        origin: at("prompts"),
      },
    }),
    origin,
  };
}

function readPrompts(messages: readonly PromptMessage[] = []): readonly PromptMessage[] {
  return messages.map(({ role, content }) => ({ role: role.toLowerCase(), content }));
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimer(text);
}
