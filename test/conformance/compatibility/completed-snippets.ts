import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../harness/root.ts";

/** A mapping of YAML. */
type Mapping = Readonly<Record<string, unknown>>;

const schema: unknown = JSON.parse(readFileSync(path.join(root, "examples/schema.json"), "utf8"));
/** Top-level fields of a standalone file. */
const FILE_FIELDS = new Set(Object.keys(mappingAt(schema, "properties")));
/** Settings of the process. */
const CONFIG_FIELDS = new Set(Object.keys(mappingAt(schema, "properties", "config", "properties")));
/** Policies of a route. */
const POLICIES = new Set(Object.keys(mappingAt(schema, "$defs", "policies", "properties")));
/** Fields of a token exchange that documents show by themselves. */
const TOKEN_EXCHANGE = new Set(["clientAuth", "subjectToken", "actorToken"]);

const GATEWAYS = { default: { port: 3000 } };
const HOST = { host: "localhost:8080" };
const SERVERS = [{ name: "everything", mcp: { host: "http://localhost:3001/mcp" } }];
const MODEL = { name: "*", provider: "openAI", params: { apiKey: "$OPENAI_API_KEY" } };
const BACKENDS = [
  HOST,
  { host: "lambda.us-west-2.amazonaws.com:443", policies: { backendTLS: {} } },
  { mcp: { targets: SERVERS } },
  { ai: { name: "openai", provider: { openAI: {} } } },
];
const JWT = { issuer: "example.com", audiences: ["example"], jwks: { file: "pub-key" } };
/** Parameters that models of some providers require. */
const PROVIDER_PARAMS: Readonly<Record<string, Mapping>> = {
  custom: { baseUrl: "https://models.example/v1" },
  vertex: { vertexProject: "example" },
  bedrock: { awsRegion: "us-west-2" },
  azure: { azureResourceName: "example" },
};

/**
 * Returns the standalone files that a snippet of a document may be part of, with what the snippet omits; the most likely
 * one first. Empty if it is no part of a standalone file.
 */
export function completedSnippets(value: unknown): readonly Mapping[] {
  if (Array.isArray(value)) return value.some(isGuard) ? [ofGuards(value)] : [];
  if (!isMapping(value)) return [];
  const { policies, services, config } = value;
  // Docker Compose, charts and settings of MCP clients have fields of these names, too.
  if (isMapping(services) || isOfClients(value)) return [];
  if (isMapping(config) && !Object.keys(config).some((key) => CONFIG_FIELDS.has(key))) return [];
  const keys = Object.keys(value);
  if (isMapping(policies) && keys.length === 1) return ofPolicies(policies);
  if (keys.every((key) => FILE_FIELDS.has(key))) return [ofFile(value)];
  if (keys.every((key) => POLICIES.has(key))) return ofPolicies(value);
  if (keys.every((key) => TOKEN_EXCHANGE.has(key)))
    return ofPolicies({ backendAuth: exchange(value) });
  return [];
}

/** Whether a mapping has the servers of an MCP client. */
export function isOfClients({ mcp }: { readonly mcp?: unknown }): boolean {
  return isMapping(mcp) && "servers" in mcp;
}

/** Replaces names in angle brackets, as readers do: `<resource-name>` becomes `resource-name`. */
export function withoutPlaceholders(yaml: string): string {
  return yaml.replaceAll(/<([A-Za-z][\w -]*)>/g, (_, name: string) =>
    name.toLowerCase().replaceAll(/[_ ]/g, "-"),
  );
}

function ofFile({ llm, mcp, routes, ...file }: Mapping): Mapping {
  const whole = {
    ...file,
    ...(llm === undefined ? {} : { llm: isMapping(llm) ? withModels(llm) : llm }),
    ...(mcp === undefined ? {} : { mcp: isMapping(mcp) ? { targets: SERVERS, ...mcp } : mcp }),
  };
  const hasEntry = ["gateways", "binds", "llm", "mcp"].some((field) => field in whole);
  const given = Array.isArray(routes) ? routes.map(withBackends) : undefined;
  const needsRoutes = !hasEntry && !("tcpRoutes" in whole);
  const all = given ?? (needsRoutes ? [withBackends({})] : undefined);
  return { ...whole, ...(hasEntry ? {} : { gateways: GATEWAYS }), ...(all && { routes: all }) };
}

function withModels({ models = [MODEL], ...llm }: Mapping): Mapping {
  const all = Array.isArray(models)
    ? models.map((each) => (isMapping(each) ? withParams(each) : each))
    : models;
  return { ...llm, models: all };
}

function withParams({ provider, params, ...model }: Mapping): Mapping {
  const name = isMapping(provider) ? Object.keys(provider).join() : String(provider);
  const needed = PROVIDER_PARAMS[name];
  const own = isMapping(params) ? params : {};
  return { ...model, provider, params: needed === undefined ? params : { ...needed, ...own } };
}

function withBackends(route: unknown): unknown {
  if (!isMapping(route) || answersItself(route)) return route;
  const { backends } = route;
  const given = Array.isArray(backends) ? backends.map(withTargets) : [HOST];
  return { ...route, backends: given };
}

function withTargets(backend: unknown): unknown {
  if (!isMapping(backend) || !isMapping(backend.mcp)) return backend;
  const { mcp } = backend;
  return { ...backend, mcp: { ...mcp, targets: mcp.targets ?? SERVERS } };
}

function answersItself({ policies }: Mapping): boolean {
  return isMapping(policies) && ("directResponse" in policies || "requestRedirect" in policies);
}

/** Policies may be those of a route to any backend, whose clients may send tokens. */
function ofPolicies(policies: Mapping): readonly Mapping[] {
  const { remoteRateLimit: limit, ...others } = policies;
  const whole = isMapping(limit)
    ? { ...others, remoteRateLimit: { host: "localhost:8081", domain: "example.com", ...limit } }
    : policies;
  const variants = [whole, { jwtAuth: JWT, ...whole }];
  return variants.flatMap((each) =>
    BACKENDS.map((backend) => ({
      gateways: GATEWAYS,
      routes: [{ policies: each, backends: [backend] }],
    })),
  );
}

function exchange(part: Mapping): Mapping {
  return { oauthTokenExchange: { host: "idp.example.com:443", path: "/token", ...part } };
}

function isGuard(value: unknown): boolean {
  return (
    isMapping(value) &&
    [
      "regex",
      "webhook",
      "openAIModeration",
      "azureContentSafety",
      "bedrockGuardrails",
      "googleModelArmor",
    ].some((kind) => kind in value)
  );
}

function ofGuards(guards: readonly unknown[]): Mapping {
  return { llm: { models: [{ ...MODEL, guardrails: { request: guards } }] } };
}

function mappingAt(value: unknown, ...keys: readonly string[]): Mapping {
  const at = keys.reduce((part: unknown, key) => (isMapping(part) ? part[key] : undefined), value);
  if (!isMapping(at)) throw new Error(`the schema has no ${keys.join(".")}`);
  return at;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
