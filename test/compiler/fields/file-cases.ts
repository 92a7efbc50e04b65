import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../../harness/certificate.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import type { KnownValues } from "./sample-values.ts";

const host = { host: "127.0.0.1:9000" };
const target = { name: "one", mcp: { host: "http://127.0.0.1:9001/mcp" } };
const pairOfServers = [target, { name: "two", mcp: { host: "http://127.0.0.1:9002/mcp" } }];
const child = { name: "one", stdio: { cmd: "server" } };
const api = (path: string): string =>
  JSON.stringify({
    openapi: "3.0.3",
    info: { title: "a", version: "1" },
    paths: { [path]: { get: { operationId: "list", responses: {} } } },
  });
const described = { name: "one", openapi: { host: "127.0.0.1:9001", schema: api("/a") } };
const model = { name: "aa", provider: { openAI: {} } };
const models = {
  groups: [{ providers: [model] }, { providers: [{ name: "bb", provider: { anthropic: {} } }] }],
};
/** Providers that share requests. */
const sharing = {
  groups: [{ providers: [model, { name: "bb", provider: { openAI: {} } }] }],
};
const tiers = [{ contextOver: 9, rates: { input: 2 } }];
const custom = { formats: [{ type: "completions" }] };
const bedrock = { name: "aa", provider: { bedrock: { model: "anthropic.claude-sonnet-4" } } };
const bedrocks = { groups: [{ providers: [bedrock] }] };
const agentRuntimeArn = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a-1";
const agent = { agentCore: { agentRuntimeArn } };
const listenerTls = { cert: "cert.pem", key: "key.pem" };

function catalog(input: number) {
  return { inline: { providers: { openai: { models: { m: { rates: { input } } } } } } };
}

function gateway(listener: object, rest: object = {}): object {
  return { ...rest, binds: [{ port: 3000, listeners: [listener] }] };
}

const asked = { host: "127.0.0.1:9005" };
const twoServices = [
  { name: "a", hostname: "a.test", ports: { 80: 8000, 81: 8001 } },
  { name: "b", hostname: "b.test", ports: { 80: 8000 } },
];
const ofService = { service: { name: "default/a", port: 80 } };
const processorOfService = { ...ofService, methods: { "tools/*": "full" } };
const webhookOfService = [{ webhook: { target: ofService } }];
const guardedByService = { request: webhookOfService, response: webhookOfService };
const ofTools = [{ mcp: { targets: [target] } }];
const ofModels = [{ ai: { name: "one", provider: { openAI: { model: "gpt-5" } } } }];
const limits = {
  ...asked,
  domain: "aa",
  descriptors: [{ entries: [{ key: "aa", value: "'a'" }] }],
};
const callouts: readonly object[] = [
  { extAuthz: asked },
  { extAuthz: { ...asked, protocol: { http: {} } } },
  { remoteRateLimit: limits },
  { extProc: asked },
  { custom: [{ use: "./policies/a.ts", allow: ["crypto"] }] },
];

const login = {
  issuer: "https://a.test",
  clientId: "aa",
  clientSecret: "${AA}",
  redirectURI: "https://c.test/callback",
};

/** Authorization servers whose issuers have a form of their own. */
const entra = { issuer: "https://a.test/t/v2.0", provider: { entra: {} }, clientId: "aa" };
const descope = {
  issuer: "https://a.test/v1/apps/agentic/p/s",
  provider: { descope: {} },
  clientId: "aa",
};

/** A limit that counts the tokens of models. */
const spending = { localRateLimit: [{ tokens: 3, unit: "Seconds" }] };

/** A file whose routes attach to gateways. */
function attached(one: object, rest: object): object {
  return { gateways: { one, two: { port: 3001 } }, ...rest };
}

const plainGateway = { port: 3000 };
const attachedRoute = { gateways: ["one"], backends: [host] };
const oneRules = [
  { name: "one", ruleName: "a", backends: [host] },
  { name: "one", ruleName: "b", matches: [{ path: { exact: "/b" } }], backends: [host] },
];
const halves = [
  { name: "a", hostname: "a.test" },
  { name: "b", hostname: "b.test" },
];

/** Configurations without an identity of the gateway. */
const plainSeeds: readonly object[] = [
  ...[
    plainGateway,
    { ...plainGateway, tls: listenerTls },
    { ...plainGateway, listeners: halves },
    { ...plainGateway, listeners: [{ name: "a", tls: listenerTls }] },
  ].map((one) => attached(one, { routes: [attachedRoute] })),
  {
    gateways: {
      tcp: { port: 3000, protocol: "TCP" },
      other: { port: 3001, protocol: "TLS", tls: listenerTls },
    },
    tcpRoutes: [{ gateways: ["tcp"], backends: [host] }],
  },
  attached(plainGateway, { mcp: { gateways: ["one"], targets: [target] } }),
  attached(plainGateway, {
    llm: { gateways: ["one"], models: [{ name: "m", provider: "openAI" }] },
  }),
  ...callouts.map((policies) => gateway({ routes: [{ policies, backends: [host] }] })),
  ...callouts.map((policies) => gateway({ policies, routes: [{ backends: [host] }] })),

  gateway({ routes: [{ backends: [host] }] }),
  gateway({ routes: [{ backends: [host, { host: "127.0.0.1:9002" }] }] }),
  gateway(
    { routes: [{ backends: [host] }] },
    {
      config: { tracing: { otlpEndpoint: "127.0.0.1:4318", otlpProtocol: "http" } },
    },
  ),
  gateway(
    { routes: [{ backends: [host] }] },
    { frontendPolicies: { tracing: { host: "127.0.0.1:4318", protocol: "http" } } },
  ),
  ...["accessLog", "logging"].map((section) =>
    gateway(
      { routes: [{ backends: [host] }] },
      { frontendPolicies: { [section]: { otlp: { host: "127.0.0.1:4318", protocol: "http" } } } },
    ),
  ),
  gateway({ routes: [{ backends: [{ mcp: { targets: [target] } }] }] }),
  ...[entra, descope].map((mcpAuthentication) =>
    gateway({
      routes: [{ policies: { mcpAuthentication }, backends: [{ mcp: { targets: [target] } }] }],
    }),
  ),
  gateway({ routes: [{ backends: [{ mcp: { targets: [child] } }] }] }),
  gateway({ routes: [{ backends: [{ mcp: { targets: pairOfServers } }] }] }),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", mcp: { targets: pairOfServers } }] },
  ),
  { mcp: { targets: pairOfServers } },
  gateway({ routes: [{ backends: [{ mcp: { targets: [described] } }] }] }),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", mcp: { targets: [described] } }] },
  ),
  ...[target, child, described].map((each) => ({ mcp: { targets: [each] } })),
  gateway({
    routes: [{ backends: [{ inferencePool: { host: "127.0.0.1:9006", endpointPicker: asked } }] }],
  }),
  ...[
    { name: "default/a", port: 80 },
    { name: "default/b", port: 80 },
  ].map((service) =>
    gateway(
      {
        routes: [
          { backends: [{ service, policies: { inferenceRouting: { endpointPicker: asked } } }] },
        ],
      },
      {
        services: twoServices,
      },
    ),
  ),
  ...[
    {
      routes: [
        { policies: { mcpGuardrails: { processors: [processorOfService] } }, backends: ofTools },
      ],
    },
    { routes: [{ policies: { mcpGuards: guardedByService }, backends: ofTools }] },
    { routes: [{ policies: { ai: { promptGuard: guardedByService } }, backends: ofModels }] },
    { protocol: "TCP", tcpRoutes: [{ backends: [ofService] }] },
  ].map((listener) => gateway(listener, { services: twoServices })),
  gateway({ routes: [{ policies: { oidc: login }, backends: [host] }] }),
  gateway({ policies: { oidc: login }, routes: [{ backends: [host] }] }),
  ...[{ gateway: {} }, { route: { name: "one" } }].map((target) => ({
    policies: [{ target, policy: { cors: { allowOrigins: ["https://a.test"] } } }],
    binds: [
      {
        port: 3000,
        listeners: [{ name: "main", routes: oneRules }],
      },
      { port: 3001, listeners: [{ name: "side", routes: [{ name: "two", backends: [host] }] }] },
    ],
  })),
  gateway({ routes: [{ backends: [{ aws: agent }] }] }),
  gateway(
    { routes: [{ backends: [{ routeGroup: "a" }] }] },
    {
      routeGroups: [
        { name: "a", routes: [{ backends: [host] }] },
        { name: "b", routes: [{ backends: [{ host: "127.0.0.1:9002" }] }] },
      ],
    },
  ),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", aws: agent }] },
  ),
  gateway({ routes: [{ backends: [{ ai: model }] }] }),
  gateway({ routes: [{ backends: [{ ai: models }] }] }),
  gateway({ routes: [{ policies: spending, backends: [{ ai: model }] }] }),
  gateway({ routes: [{ policies: spending, backends: [{ ai: models }] }] }),
  gateway(
    { routes: [{ policies: spending, backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", ai: model }] },
  ),
  gateway(
    { routes: [{ policies: spending, backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", ai: models }] },
  ),
  { llm: { policies: spending, models: [{ name: "m", provider: "openAI" }] } },
  gateway({ routes: [{ backends: [{ ai: bedrock }] }] }),
  gateway({ routes: [{ backends: [{ ai: bedrocks }] }] }),
  { llm: { models: [{ name: "m", provider: "openAI" }] } },
  {
    llm: {
      models: [
        { name: "m", provider: "openAI" },
        { name: "m", provider: "anthropic" },
      ],
    },
  },
  ...[
    {
      failover: {
        targets: [
          { model: "m", priority: 0 },
          { model: "n", priority: 1 },
        ],
      },
    },
    { weighted: { targets: [{ model: "m" }, { model: "n", weight: 2 }] } },
    { conditional: { targets: [{ model: "m", when: "llmRequest.stream" }, { model: "n" }] } },
  ].map((routing) => ({
    llm: {
      models: [
        { name: "m", provider: "openAI" },
        { name: "n", provider: "anthropic" },
      ],
      virtualModels: [{ name: "v", routing }],
    },
  })),
  ...[
    { provider: "azure", params: { azureHost: "a.openai.azure.com", model: "m" } },
    { provider: "azure", params: { azureResourceName: "a", model: "m" } },
    { provider: "vertex", params: { vertexProject: "a" } },
    { provider: "bedrock", params: { awsRegion: "eu-west-1" } },
  ].map((model) => ({ llm: { models: [{ name: "m", ...model }] } })),
  gateway(
    {
      routes: [{ policies: { apiKey: { store: true }, directResponse: { status: 200 } } }],
    },
    { config: { store: { redis: { url: "redis://a.test" } } } },
  ),
  gateway(
    {
      routes: [{ policies: { apiKey: { store: true }, directResponse: { status: 200 } } }],
    },
    { config: { keysApi: { key: { file: "a.key" } } } },
  ),
  gateway(
    {
      routes: [
        { policies: { authorization: { rules: ["isA()"] }, directResponse: { status: 200 } } },
      ],
    },
    { config: { customFunctions: 'isA() { request.method == "GET" }' } },
  ),
  gateway(
    { routes: [{ policies: { directResponse: { status: 200 } } }] },
    { config: { admin: { key: { file: "a.key" }, hostnames: ["a.test"] } } },
  ),
  {
    config: { usage: { by: { team: "request.method" } } },
    llm: { models: [{ name: "m", provider: "openAI" }] },
  },
  {
    config: {
      modelCatalog: [
        { inline: { providers: { openai: { models: { m: { rates: { input: 1 }, tiers } } } } } },
      ],
    },
    llm: { models: [{ name: "m", provider: "openAI" }] },
  },
  ...[
    { custom: { formats: [{ type: "completions" }] } },
    { custom: { formats: [{ type: "completions" }], providerOverride: "a" } },
  ].map((provider) => ({
    llm: {
      models: [{ name: "m", provider, params: { baseUrl: "http://127.0.0.1:9000" } }],
    },
  })),
  gateway({
    routes: [{ backends: [{ ai: { provider: { custom }, baseUrl: "http://127.0.0.1:9000" } }] }],
  }),
  {
    llm: {
      providers: [
        { name: "p", provider: "openAI" },
        { name: "q", provider: "anthropic" },
      ],
      models: [
        { name: "m", provider: { reference: "p" } },
        { name: "n", provider: { reference: "q" } },
      ],
    },
  },
  {
    llm: {
      providers: [
        { name: "p", provider: { custom }, params: { baseUrl: "http://127.0.0.1:9000" } },
      ],
      models: [{ name: "m", provider: { reference: "p" } }],
    },
  },
  {
    llm: {
      providers: [{ name: "p", provider: "bedrock" }],
      models: [
        { name: "m", provider: { reference: "p" } },
        { name: "m", provider: { reference: "p" } },
      ],
    },
  },
  ...[{ azureResourceName: "a" }, { azureHost: "a.openai.azure.com" }].map((params) => ({
    llm: {
      providers: [{ name: "p", provider: "azure", params }],
      models: [{ name: "m", provider: { reference: "p" } }],
    },
  })),
  {
    llm: {
      providers: [{ name: "p", provider: "vertex", params: { vertexProject: "a" } }],
      models: [{ name: "m", provider: { reference: "p" } }],
    },
  },
  {
    llm: {
      policies: spending,
      providers: [{ name: "p", provider: "openAI" }],
      models: [{ name: "m", provider: { reference: "p" } }],
    },
  },
  {
    llm: {
      models: [
        { name: "m", provider: "openAI" },
        { name: "n", provider: "openAI" },
      ],
      virtualModels: [{ name: "v", routing: { weighted: { targets: [{ model: "m" }] } } }],
    },
  },
  gateway({ protocol: "HTTPS", tls: listenerTls, routes: [{ backends: [host] }] }),
  gateway({ protocol: "TCP", tcpRoutes: [{ backends: [host] }] }),
  gateway({
    protocol: "TCP",
    tcpRoutes: [
      {
        policies: {
          authorization: { rules: ["source.port > 1"] },
          custom: [{ use: "./policies/c.ts" }],
        },
        backends: [host],
      },
    ],
  }),
  gateway({ protocol: "TLS", tcpRoutes: [{ backends: [host] }] }),
  {
    binds: [
      {
        port: 3002,
        listeners: [
          {
            protocol: "HTTPS",
            tls: { acme: { names: ["a.test"] } },
            routes: [{ backends: [host] }],
          },
        ],
      },
      { port: 3001, listeners: [{ routes: [{ backends: [host] }] }] },
    ],
  },
  gateway({ protocol: "TLS", tls: { spiffe: {} }, tcpRoutes: [{ backends: [host] }] }),
  gateway({
    protocol: "HTTPS",
    tls: { acme: { names: ["a.test"] } },
    routes: [{ backends: [host] }],
  }),
  { llm: { tls: listenerTls, models: [{ name: "m", provider: "openAI" }] } },
  gateway({ routes: [{ backends: [{ ai: sharing }] }] }),
  gateway(
    { routes: [{ backends: [{ backend: "shared" }] }] },
    { backends: [{ name: "shared", ai: sharing }] },
  ),
  gateway({ protocol: "TLS", tls: listenerTls, tcpRoutes: [{ backends: [host] }] }),
  gateway({
    routes: [{ policies: { authorization: { rules: ["true"] } }, backends: [{ dynamic: {} }] }],
  }),
  gateway({
    protocol: "TLS",
    tls: listenerTls,
    tcpRoutes: [{ hostnames: ["a.test"], backends: [{ dynamic: {} }] }],
  }),
  ...[[{ backend: "a" }], [{ backend: "a" }, { backend: "b" }]].map((backends) =>
    gateway(
      { routes: [{ backends }] },
      {
        backends: [
          { name: "a", ...host },
          { name: "b", host: "127.0.0.1:9002" },
        ],
      },
    ),
  ),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", mcp: { targets: [target] } }] },
  ),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", mcp: { targets: [child] } }] },
  ),
  gateway({ routes: [{ backends: [{ backend: "a" }] }] }, { backends: [{ name: "a", ai: model }] }),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", ai: models }] },
  ),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", ai: bedrock }] },
  ),
  gateway(
    { routes: [{ backends: [{ backend: "a" }] }] },
    { backends: [{ name: "a", ai: bedrocks }] },
  ),
];

const spiffe = { endpoint: "unix:///run/agent.sock" };
const acme = { termsOfServiceAgreed: true };

/** Configurations that may contain the fields. */
export const seeds: readonly unknown[] = plainSeeds.map((seed) => {
  const config = "config" in seed && typeof seed.config === "object" ? seed.config : {};
  return { ...seed, config: { spiffe, acme, ...config } };
});

const keySet = (kid: string): string =>
  JSON.stringify({
    keys: [{ kty: "OKP", crv: "Ed25519", kid, x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
  });

/** The texts of a listener's pair, made when a test first reads one, because a file that is loaded cannot skip. */
const pair: { texts?: Record<"cert" | "key", string> } = {};

function pairText(part: "cert" | "key"): string {
  if (pair.texts === undefined) {
    const folder = temporaryFolder();
    makeCertificate(folder, "server", { days: "30" });
    const text = (name: string): string => readFileSync(join(folder, name), "utf8");
    pair.texts = { cert: text("server.pem"), key: text("server.key") };
  }
  return pair.texts[part];
}

/** A tool of the target that configurations have. */
function lock(tool: string): string {
  const server = `streamable: ${target.mcp.host}`;
  const tools = { [tool]: { digests: { inputSchema: "A".repeat(43) } } };
  return JSON.stringify({ version: 2, targets: [{ name: target.name, server, tools }] });
}

/** Files that they name. */
export const files: Readonly<Record<string, string>> = {
  get "cert.pem"() {
    return pairText("cert");
  },
  get "key.pem"() {
    return pairText("key");
  },
  "a.prices.json": JSON.stringify(catalog(1).inline),
  "b.prices.json": JSON.stringify(catalog(2).inline),
  "a.openapi.json": api("/a"),
  "b.openapi.json": api("/b"),
  "a.lock.yaml": lock("a"),
  "b.lock.yaml": lock("b"),
  "a.json": keySet("a"),
  "b.json": keySet("b"),
  "policies/a.ts": customPolicy("a"),
  "policies/b.ts": customPolicy("b"),
  "policies/c.ts": connectPolicy("c"),
  "policies/d.ts": connectPolicy("d"),
};

/** A policy for connections. */
function connectPolicy(name: string): string {
  return `import { definePolicy } from "gwc/policy";
export default definePolicy({ async connect({ refuse }) { return refuse("${name}"); } });
`;
}

/** A module of a custom policy with an option. */
function customPolicy(header: string): string {
  return `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { aa: { type: "string" } },
  async request(request, { aa }) {
    await Promise.resolve();
    request.headers.set("${header}", aa ?? "none");
  },
});
`;
}

const issuer = ["https://a.test", "https://b.test"];
const provider = { issuer: issuer[0], audiences: ["aa"], jwks: { inline: keySet("a") } };
const front = { url: "https://a.test/oauth", redirectURIs: ["http://127.0.0.1/a"] };
const secret = ["${AA}", "${BB}"];
const knownLogin = {
  ...login,
  authorizationEndpoint: "https://a.test/auth",
  tokenEndpoint: "https://a.test/token",
  jwks: { inline: keySet("a") },
};
const exchange = { host: "127.0.0.1:9000" };
const clientAuth = { clientId: "aa", clientSecret: "${AA}" };
const assertion = { method: "privateKeyJwt", signingKey: "${AA}", assertionAudience: "aa" };
const crossing = {
  identityProvider: { ...exchange, clientAuth },
  resourceAuthorizationServer: { host: "127.0.0.1:9002", clientAuth },
  audience: "aa",
  scopes: ["aa"],
};
const application = { tenant_id: "aa", client_id: "bb", client_secret: "${AA}" };
const azureOpenAI = { endpoint: "a.test", deploymentName: "d", apiVersion: "v1" };
const places = [{ header: { name: "x-a" } }, { queryParameter: { name: "a" } }];
const role = (name: string) => ({ roleArn: `arn:aws:iam::123456789012:role/${name}` });
const tagged = { ...role("a"), tags: [{ key: "a", value: "aa" }] };
const limit = { maxTokens: 5, tokensPerFill: 5, fillInterval: "7s" };
const tls = { cert: "cert.pem", key: "key.pem" };

/** Parts of a schema that others share and that cannot act in some place: using them there is a mistake. */
export const told: readonly (readonly [part: string, code: string])[] = [
  ["backends.[].ai.policies.ai.promptCaching.affinity", "misplaced-field"],
  ["mcp.targets.[].policies.ai.", "misplaced-field"],
  ["extAuthz.policies.backendAuth.passthrough", "misplaced-field"],
  ["extAuthz.policies.backendAuth.oauthTokenExchange.", "misplaced-field"],
  ["tracing.policies.backendAuth.passthrough", "misplaced-field"],
  ["otlp.policies.backendAuth.passthrough", "misplaced-field"],
  ["ai.policies.health.", "misplaced-field"],
  ["mcp.targets.[].policies.health.", "misplaced-field"],
  ["providers.[].policies.health.active.", "misplaced-field"],
  ["providers.[].policies.health.panicThreshold", "misplaced-field"],
];

/** Values of fields where the schema alone does not say what makes sense. */
export const known: KnownValues = {
  gateways: ["one", "two"],
  "gateways.[]": ["one", "two"],
  "tcpRoutes.[].gateways": ["tcp", "other"],
  "tcpRoutes.[].gateways.[]": ["tcp", "other"],
  backendTunnel: [{ proxy: { host: "127.0.0.1:9005" } }],
  "backendTunnel.proxy.host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  ...Object.fromEntries(
    [
      ...["backendTunnel.proxy", "oauthTokenExchange", "clientCredentials", "identityProvider"],
      ...["resourceAuthorizationServer", "mcp", "sse", "openapi"],
    ].map((field) => [`${field}.backend`, ["a", "b"]]),
  ),
  ...Object.fromEntries(
    [
      ...["oauthTokenExchange", "clientCredentials", "identityProvider"],
      "resourceAuthorizationServer",
    ].map((field) => [`${field}.policies`, [{ tcp: { connectTimeout: "7s" } }]]),
  ),
  minTlsVersion: ["TLS_V1_2", "TLS_V1_3"],
  sessionPersistence: [{ absoluteTimeout: "1h" }],
  routeGroup: ["a", "b"],
  "target.gateway.listenerName": ["main", "side"],
  "target.gateway.port": [3000, 3001],
  "target.route.name": ["one", "two"],
  "target.route.ruleName": ["a", "b"],
  "service.name": ["default/a", "default/b"],
  "service.port": [80, 81],
  agentRuntimeArn: [agentRuntimeArn, agentRuntimeArn.replace("a-1", "b-1")],
  extAuthz: [asked],
  extProc: [asked],
  "custom.[].use": ["./policies/a.ts", "./policies/b.ts"],
  "tcpRoutes.[].policies.custom.[].before": ["authorization", "csrf"],
  "tcpRoutes.[].policies.custom.[].after": ["authorization", "cors"],
  "tcpRoutes.[].policies.custom.[].use": ["./policies/c.ts", "./policies/d.ts"],
  "promptCaching.affinity": ["prefix", "session"],
  "custom.[].with.*": ["one", "two"],
  "custom.[].before": ["cors", "csrf"],
  "custom.[].after": ["cors", "csrf"],
  "custom.[].allow.[]": ["fs", "url"],
  remoteRateLimit: [limits],
  "extAuthz.host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  "extProc.host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  mcpGuardrails: [{ processors: [{ host: "127.0.0.1:9005", methods: { "tools/*": "full" } }] }],
  "mcpGuardrails.processors.[].host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  "mcpGuardrails.processors.[].methods.*": ["full", "request"],
  "remoteRateLimit.host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  "extAuthz.backend": ["a", "b"],
  "extProc.backend": ["a", "b"],
  "remoteRateLimit.backend": ["a", "b"],
  "extAuthz.policies.backendTLS": [tls, { spiffe: {} }],
  "extAuthz.policies": [{ tcp: { connectTimeout: "7s" } }],
  "backendTunnel.policies": [{ tcp: { connectTimeout: "7s" } }],
  "extAuthz.failureMode": ["allow", { denyWithStatus: 500 }, { denyWithStatus: 501 }],
  "extAuthz.cache": [{ key: ["request.path"], ttl: "7s" }],
  "delay.duration": ["7s", "11s"],
  "dynamic.target": ['"a.test:80"', '"b.test:80"'],
  "cache.ttl": ["7s", "11s"],
  "cache.semantic": [{ model: "a", host: "127.0.0.1:9001" }],
  "cache.semantic.host": ["127.0.0.1:9001", "127.0.0.1:9002"],
  "extAuthz.protocol.http.path": ['"/a"', '"/b"'],
  "extAuthz.protocol.http.redirect": ['"/a"', '"/b"'],
  "extAuthz.protocol.grpc.metadata.*": ["{'a': 'b'}", "{'a': 'c'}"],
  "descriptors.[].cost": ["1", "2"],
  "descriptors.[].limitOverride": [
    "{'unit': 'minute', 'requestsPerUnit': 1}",
    "{'unit': 'minute', 'requestsPerUnit': 2}",
  ],
  "config.logging.level": ["warn", "debug"],
  "config.logging.level.[]": ["warn", "debug"],
  "fields.remove.[]": ["http.version", "duration"],
  "accessLog.remove.[]": ["http.version", "duration"],
  "logging.remove.[]": ["http.version", "duration"],
  "tracing.remove.[]": ["url.path", "url.scheme"],
  "tracing.fields.remove.[]": ["url.path", "url.scheme"],
  "tracing.headers.*": secret,
  "tracing.host": ["127.0.0.1:4317", "127.0.0.1:4318"],
  "tracing.otlpEndpoint": ["127.0.0.1:4317", "127.0.0.1:4318"],
  "tracing.backend": ["a", "b"],
  "otlp.host": ["127.0.0.1:4317", "127.0.0.1:4318"],
  "otlp.backend": ["a", "b"],
  "otlp.path": ["/a", "/b"],
  "requestId.header": ["x-a", "x-b"],
  "tracing.path": ["/a", "/b"],
  randomSampling: [0.5, true],
  clientSampling: [0.5, true],
  mcpAuthentication: [
    { issuer: issuer[0], jwks: { inline: keySet("a") } },
    { ...entra, clientSecret: { file: "a.json" } },
    { ...entra, authorizationServer: front },
  ],
  authorizationServer: [front],
  "authorizationServer.url": ["https://a.test/oauth", "https://a.test/other"],
  "authorizationServer.redirectURIs": [["http://127.0.0.1/a"], ["cursor://a/*"]],
  "redirectURIs.[]": ["http://127.0.0.1/a", "cursor://a/*"],
  "authorizationServer.clientDocuments": [["https://a.test/a"], ["https://a.test/*"]],
  "clientDocuments.[]": ["https://a.test/a", "https://a.test/*"],
  registrationLifetime: ["2m", "3m"],
  "mcpAuthentication.clientSecret": [...secret, { file: "a.json" }],
  jwtAuth: [provider, { providers: [provider] }],
  jwks: [{ inline: keySet("a") }, { url: "https://a.test/keys", cacheDuration: "3s" }],
  "jwtAuth.providers.[]": [provider],
  issuer,
  oidc: [knownLogin],
  "oidc.clientSecret": [...secret, { file: "a.json" }],
  "oidc.discovery": [{ url: "https://a.test/document" }],
  ...Object.fromEntries(
    ["issuer", "authorizationEndpoint", "tokenEndpoint", "endSessionEndpoint", "redirectURI"].map(
      (field) => [`oidc.${field}`, ["https://a.test/one", "https://a.test/two"]],
    ),
  ),
  "logout.redirectURI": ["https://a.test/one", "https://a.test/two"],
  "logout.path": ["/one", "/two"],
  "spiffe.endpoint": ["unix:///run/a.sock", "unix:///run/b.sock"],
  "config.acme": [acme, { ...acme, directory: "https://a.test/dir" }],
  "acme.directory": ["https://a.test/dir", "https://b.test/dir"],
  "acme.email": ["a@a.test", "b@a.test"],
  "acme.names.[]": ["a.test", "b.test"],
  "jwks.inline": [keySet("a"), keySet("b")],
  "jwks.file": ["a.json", "b.json"],
  "keys.[].key": secret,
  "keys.[].keyHash": [`sha256:${"a".repeat(64)}`, `sha256:${"b".repeat(64)}`],
  "backendAuth.key": [...secret, { value: "${AA}" }],
  "backendAuth.key.file": ["a.json", "b.json"],
  "backendAuth.key.value": [...secret, { file: "a.json" }],
  "backendTunnel.policies.backendAuth.key": [...secret, { file: "a.json" }],
  "credentials.[].key": [...secret, { file: "a.json" }],
  "credentials.[]": [{ location: places[0], key: "${AA}" }],
  "gcp.credential": [...secret, { file: "a.json" }],
  ...Object.fromEntries(
    ["key.location", "passthrough.location", "credentials.[].location"].map((field) => [
      field,
      places,
    ]),
  ),
  "oauthTokenExchange.authorizationLocation": places,
  "assumeRole.roleArn": [role("a").roleArn, role("b").roleArn],
  "assumeRole.sessionName": ["aa", "bb"],
  oauthTokenExchange: [exchange],
  "oauthTokenExchange.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  "oauthTokenExchange.path": ["/a", "/b"],
  "oauthTokenExchange.subjectToken": [{ source: { cookie: { name: "aa" } } }],
  "subjectToken.tokenType": ["urn:aa", "urn:bb"],
  "oauthTokenExchange.requestedTokenType": ["urn:aa", "urn:bb"],
  clientAuth: [
    clientAuth,
    { clientId: "aa", ...assertion },
    { clientId: "aa", ...assertion, certificate: "${AA}", certificateHeader: "x5c" },
  ],
  "clientAuth.certificate": [...secret, { file: "a.json" }],
  "clientAuth.clientSecret": [...secret, { file: "a.json" }],
  "clientAuth.signingKey": [...secret, { file: "a.json" }],
  signingKey: [...secret, { file: "a.json" }],
  actorToken: [
    {
      source: { cookie: { name: "aa" } },
      tokenType: "urn:ietf:params:oauth:token-type:jwt",
    },
  ],
  "actorToken.tokenType": ["urn:ietf:params:oauth:token-type:jwt", "urn:bb"],
  crossAppAccess: [crossing],
  clientCredentials: [{ ...exchange, clientAuth }],
  "clientCredentials.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  "clientCredentials.path": ["/a", "/b"],
  "clientCredentials.location": places,
  jwtSign: [{ signingKey: "${AA}" }],
  "jwtSign.location": places,
  "oauthTokenExchange.additionalParams.*": ["'a'", "'b'"],
  "backendAuth.aws": [
    {
      region: "eu-west-1",
      service: "lambda",
      accessKeyId: "AKIA",
      secretAccessKey: "${AA}",
      sessionToken: "${BB}",
    },
    { region: "eu-west-1", service: "lambda", assumeRole: tagged },
  ],
  secretAccessKey: secret,
  sessionToken: secret,
  unhealthyExpression: ["response.code == 500", "response.code == 501"],
  http2ConnectionWindowSize: [8_000_000, 16_000_000],
  backendTLS: [tls, { spiffe: {} }],
  "tls.alpn.[]": ["h2", "http/1.1"],
  "backendTLS.alpn.[]": ["h2", "http/1.1"],
  "localRateLimit.[]": [
    limit,
    { requests: 3, unit: "Seconds", burst: 1 },
    { tokens: 3, unit: "Seconds" },
    { budget: 3, unit: "Days", cost: "double(llm.totalTokens)" },
  ],
  "rateLimit.local.[]": [
    limit,
    { requests: 3, unit: "Seconds", burst: 1 },
    { tokens: 3, unit: "Seconds" },
    { budget: 3, unit: "Days", cost: "double(llm.totalTokens)" },
  ],
  "local.[].cost": ["double(llm.totalTokens)", "double(llm.inputTokens)"],
  "localRateLimit.[].cost": ["double(llm.totalTokens)", "double(llm.inputTokens)"],
  "openapi.schema": [api("/a"), api("/b"), { file: "a.openapi.json" }],
  "openapi.schema.file": ["a.openapi.json", "b.openapi.json"],
  toolLock: ["a.lock.yaml", "b.lock.yaml"],
  "targets.[].mcp": [{ host: "a.test", port: 80 }],
  "targets.[].sse": [{ host: "a.test", port: 80 }],
  "allowOrigins.[]": issuer,
  "rules.[].deny": ['request.path == "/a"', 'request.path == "/b"'],
  networkExtAuthz: [{ host: "127.0.0.1:9005", protocol: { http: {} } }],
  "networkExtAuthz.host": ["127.0.0.1:9005", "127.0.0.1:9006"],
  "networkExtAuthz.backend": ["a", "b"],
  "networkExtAuthz.policies": [{ tcp: { connectTimeout: "7s" } }],
  "networkExtAuthz.protocol.http.path": ["source.address", "destination.address"],
  "networkExtAuthz.protocol.http.body": ["source.address", "destination.address"],
  "networkExtAuthz.protocol.http.addRequestHeaders.*": ["source.address", "destination.address"],
  "networkExtAuthz.cache": [{ key: ["source.address"], ttl: "7s" }],
  "networkExtAuthz.cache.key.[]": ["source.address", "source.port"],
  "networkAuthorization.rules.[].deny": ["source.port == 1", "source.port == 2"],
  "mcpAuthorization.rules.[].deny": ['mcp.tool.name == "a"', 'mcp.tool.name == "b"'],
  "requestMirror.backend.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  hostOverride: ["127.0.0.1:9000", "127.0.0.1:9002"],
  "ai.routes.*": ["Completions", "Messages"],
  "modelAliases.*": ["m", "n"],
  "promptGuard.request.[].regex": [{ action: "reject", rules: [{ pattern: "a+" }] }],
  "promptGuard.response.[].regex": [{ action: "reject", rules: [{ pattern: "a+" }] }],
  userConnections: [
    { url: "https://a.test/connect", servers: [{ name: "a", resource: "https://b.test/mcp" }] },
  ],
  "userConnections.url": ["https://a.test/connect", "https://a.test/other"],
  "mcpGuards.request.[].regex": [{ action: "reject", rules: [{ pattern: "a+" }] }],
  "mcpGuards.response.[].regex": [{ action: "reject", rules: [{ pattern: "a+" }] }],
  "mcpGuards.request.[].webhook": [{ target: { host: "127.0.0.1:9000" } }],
  "mcpGuards.response.[].webhook": [{ target: { host: "127.0.0.1:9000" } }],
  "path.regex": ["/a+", "/b+"],
  "regex.rules": [[{ pattern: "a+" }], [{ pattern: "b+" }]],
  "promptGuard.request.[].webhook": [{ target: { host: "127.0.0.1:9000" } }],
  "promptGuard.response.[].webhook": [{ target: { host: "127.0.0.1:9000" } }],
  "webhook.target": [{ host: "127.0.0.1:9000" }, { host: "127.0.0.1:9002" }],
  "webhook.target.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  externalModeration: [{ host: "127.0.0.1:9000" }],
  "externalModeration.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  openAIModeration: [{ host: "127.0.0.1:9000" }],
  bedrockGuardrails: [
    {
      guardrailIdentifier: "a",
      guardrailVersion: "1",
      region: "eu-west-1",
      host: "127.0.0.1:9000",
    },
  ],
  googleModelArmor: [{ templateId: "a", projectId: "b", host: "127.0.0.1:9000" }],
  azureContentSafety: [{ endpoint: "http://127.0.0.1:9000" }],
  "azureContentSafety.endpoint": ["http://127.0.0.1:9000", "http://127.0.0.1:9002"],
  "openAIModeration.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  "bedrockGuardrails.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  "bedrockGuardrails.region": ["eu-west-1", "eu-west-2"],
  "googleModelArmor.host": ["127.0.0.1:9000", "127.0.0.1:9002"],
  bedrock: [{ guardrailIdentifier: "aa", guardrailVersion: "1" }],
  "backendAuth.gcp": [{ type: "IdToken" }, { type: "IdToken", audience: "https://a.test" }],
  "gcp.type": ["AccessToken", "IdToken"],
  "backendAuth.azure": [{ implicit: {}, scope: "a" }, { explicitConfig: { workloadIdentity: {} } }],
  "azure.explicitConfig": [{ workloadIdentity: {} }, { clientSecret: application }],
  client_secret: secret,
  "provider.azureopenai": [azureOpenAI],
  "provider.azureOpenAI": [azureOpenAI],
  "provider.azure": [azureOpenAI],
  apiVersion: ["preview", "2024-10-21"],
  "llm.models.[].name": ["m", "n-*"],
  "targets.[].model": ["m", "n"],
  "llm.models.[].provider": ["openAI", "anthropic"],
  "llm.providers.[].provider": ["openAI", "anthropic"],
  "llm.models.[].provider.reference": ["p", "q"],
  "llm.providers.[].name": ["p", "q"],
  "provider.custom": [custom, { formats: [{ type: "messages" }] }],
  "formats.[].type": ["completions", "messages"],
  baseUrl: ["http://127.0.0.1:9000/v1", "http://127.0.0.1:9002/v1"],
  "config.store": [{ redis: { url: "redis://a.test" } }],
  "redis.url": ["redis://a.test", "redis://b.test"],
  "config.usage": [{}],
  "config.admin": [{ key: { file: "a.key" } }, { hostnames: ["a.test"] }],
  "admin.key.file": ["a.key", "b.key"],
  "admin.hostnames.[]": ["a.test", "b.test"],
  "config.keysApi": [{ key: { file: "a.key" } }],
  "keysApi.key.file": ["a.key", "b.key"],
  "config.customFunctions": [
    'isA() { request.method == "GET" }',
    'isA() { request.method == "PUT" }',
  ],
  "config.modelCatalog": [[catalog(1)], [catalog(2)]],
  "modelCatalog.[].file": ["a.prices.json", "b.prices.json"],
  "modelCatalog.[].inline": [catalog(1).inline, catalog(2).inline],
  visibility: ["internal", "public"],
  resourceType: ["foundry", "openAI"],
  azureResourceType: ["foundry", "openAI"],
  apiKey: secret,
  "mcp.tools": [
    [{ target: "one", tool: "a", name: "x", description: "X", set: { b: 1 }, hide: ["c"] }],
  ],
  "tools.[].target": ["one", "two"],
  "mcp.sessions": [{ max: 50, maxPerCaller: 7 }],
  "backend.backend": ["a", "b"],
  "backends.[].backend": ["a", "b"],
  cipherSuites: [["TLS13_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]],
  "cipherSuites.[]": ["TLS13_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256"],
  "tcpRoutes.[].policies.authorization.rules.[].deny": [
    'source.address == "1.1.1.1"',
    'source.address == "2.2.2.2"',
  ],
  "tcpRoutes.[].backends.[].host": ["127.0.0.1:9000", "127.0.0.1:9002"],
};
