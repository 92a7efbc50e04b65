import type { ConfigValue } from "../../../compiler/schema/config-values.ts";
import type { KnownValues } from "./sample-values.ts";

const GATEWAY = "gateway.networking.k8s.io";
const listener = { name: "http", port: 8080, protocol: "HTTP" };
const certificate = { certificateRefs: [{ name: "a" }] };
const https = { name: "https", port: 8443, protocol: "HTTPS", tls: certificate };
const gateway = {
  gatewayClassName: "gatewayclass",
  infrastructure: {
    parametersRef: { group: "gwc.dev", kind: "GatewayParameters", name: "identified" },
  },
  listeners: [listener],
};
const parent = { name: "gateway" };
const service = { name: "a", port: 80 };
const ofBackend = { group: "gwc.dev", kind: "GatewayBackend", name: "gatewaybackend" };
const route = { parentRefs: [parent], rules: [{ name: "one", backendRefs: [service] }] };
const routed = { parentRefs: [parent], rules: [{ backendRefs: [ofBackend] }] };
const agentRuntimeArn = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a-1";
const fixed = { static: { host: "a.test", port: 80 } };
const mcp = { mcp: { targets: [{ name: "one", static: { host: "a.test", port: 80 } }] } };
const pairOfServers = {
  mcp: { targets: [...mcp.mcp.targets, { name: "two", static: { host: "b.test", port: 80 } }] },
};
const sse = {
  mcp: { targets: [{ name: "one", static: { host: "a.test", port: 80, protocol: "SSE" } }] },
};
const amazon = { host: "lambda.eu-west-1.amazonaws.com", port: 443 };
const lambda = { mcp: { targets: [{ name: "one", static: amazon }] } };
const selected = { mcp: { targets: [{ name: "one", selector: { services: {} } }] } };
const openai = { ai: { provider: { openai: {} } } };
const claude = { ai: { provider: { anthropic: {} } } };
const house = {
  ai: { provider: { custom: { formats: [{ type: "Completions" }], backendRef: service } } },
};
const groups = { ai: { groups: [{ providers: [{ name: "aa", openai: {} }] }] } };
const two = {
  ai: {
    groups: [
      {
        providers: [
          { name: "aa", openai: {} },
          { name: "bb", openai: {} },
        ],
      },
    ],
  },
};
const claudes = { ai: { groups: [{ providers: [{ name: "aa", anthropic: {} }] }] } };
const streamRules = [{ name: "one", backendRefs: [service] }];
const named = { parentRefs: [parent], hostnames: ["a.test"] };
const secured = {
  targetRefs: [{ group: "", kind: "Service", name: "a" }],
  validation: { hostname: "a.test", wellKnownCACertificates: "System" },
};
/** A catalog with a price of the models of OpenAI. */
function prices(input: number): string {
  return JSON.stringify({
    providers: {
      openai: { models: { m: { rates: { input } }, gatewaymodel: { rates: { input } } } },
    },
  });
}

const authorities = { caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "a" }] };
const byPort = { port: 8443, tls: { validation: authorities } };
const mutual = {
  ...gateway,
  listeners: [https, { ...https, name: "other", port: 8444 }],
  tls: {
    frontend: { default: {}, perPort: [byPort] },
    backend: { clientCertificateRef: { name: "a" } },
  },
};
const formerlyMutual = { ...gateway, backendTLS: { clientCertificateRef: { name: "a" } } };
const logged = { logging: { format: "json" } };

const ofPort = { group: GATEWAY, kind: "Gateway", name: "gateway", port: 8080 };
const ofPorts = { group: GATEWAY, kind: "Gateway", matchLabels: { a: "aa" } };

function policyOf(kind: string, sectionName?: string): object {
  const group = kind === "GatewayBackend" ? "gwc.dev" : kind === "Service" ? "" : GATEWAY;
  const name = kind === "Service" ? "a" : kind.toLowerCase();
  return { targetRefs: [{ group, kind, name, ...(sectionName && { sectionName }) }] };
}

function keySet(kid: string): string {
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  return JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid, x }] });
}

/** A lock with a tool of the server that backends have. */
function lock(tool: string): string {
  const tools = { [tool]: { digests: {} } };
  const server = "streamable: http://a.test:80/mcp";
  return JSON.stringify({ version: 2, targets: [{ name: "one", server, tools }] });
}

const knownAuthorization = { backendRef: { name: "a", port: 80 }, grpc: {} };
const remoteKeys = { jwksPath: "/keys", backendRef: { name: "a", port: 80 } };

const bedrock = {
  ai: { provider: { bedrock: { model: "anthropic.claude", region: "eu-west-1" } } },
};
const bedrocks = {
  ai: {
    groups: [
      { providers: [{ name: "aa", bedrock: { model: "anthropic.claude", region: "eu-west-1" } }] },
    ],
  },
};
const rules = { authorization: { policy: { matchExpressions: ["true"] } } };
const before = { traffic: { phase: "PreRouting", ...rules } };
const tokens = {
  traffic: {
    jwtAuthentication: { providers: [{ issuer: "https://a.test", jwks: { inline: keySet("a") } }] },
  },
};
const login = {
  issuer: "https://a.test",
  clientId: "aa",
  clientSecretRef: { name: "a" },
  redirectURI: "https://c.test/callback",
};
const knownLogin = {
  ...login,
  authorizationEndpoint: "https://a.test/auth",
  tokenEndpoint: "https://a.test/token",
  jwks: { inline: keySet("a") },
};
const labelled = {
  targetSelectors: [{ group: GATEWAY, kind: "HTTPRoute", matchLabels: { a: "aa" } }],
  traffic: rules,
};

const connectionsPage = {
  url: "https://a.test/connect",
  servers: [
    {
      name: "a",
      resource: "https://b.test/mcp",
      clientId: "aa",
      clientSecretRef: { name: "a" },
      scopes: ["aa"],
    },
  ],
};

/** A Gateway with a route to a GatewayBackend, and a policy on the route. */
function behind(backend: object, policy = policyOf("HTTPRoute")): object {
  return { Gateway: gateway, HTTPRoute: routed, GatewayBackend: backend, GatewayPolicy: policy };
}

const filtered = (filter: object): object => ({
  Gateway: gateway,
  HTTPRoute: { ...route, rules: [{ name: "one", filters: [filter], backendRefs: [service] }] },
});
const called = (filter: object): object => ({
  Gateway: gateway,
  GRPCRoute: {
    ...route,
    rules: [
      {
        name: "one",
        matches: [{ method: { service: "a.A", method: "A" } }],
        filters: [filter],
        backendRefs: [service],
      },
    ],
  },
});
/** The same of one backend. */
const filteredBackend = (kind: "HTTPRoute" | "GRPCRoute", filter: object): object => ({
  Gateway: gateway,
  [kind]: { ...route, rules: [{ name: "one", backendRefs: [{ ...service, filters: [filter] }] }] },
});
const streams = { name: "streams", port: 9000, protocol: "TCP" };
const names = { name: "names", port: 9443, protocol: "TLS", tls: { mode: "Passthrough" } };
const identified = {
  ...{ name: "identified", port: 8443, protocol: "HTTPS" },
  tls: { options: { "agentgateway.dev/tls-certificate-source": "SPIFFE" } },
};
/** Labels of an autoscaler are on one. */
const scaled = { horizontalPodAutoscaler: { spec: { maxReplicas: 2 } } };
const parameters = { group: "gwc.dev", kind: "GatewayParameters", name: "gatewayparameters" };
const ofClass = {
  controllerName: "gwc.dev/gateway",
  parametersRef: { ...parameters, namespace: "default" },
};
const hasParameters = { ...gateway, infrastructure: { parametersRef: parameters } };
const authorized = { traffic: rules };
const labels = { a: "aa" };
const set = { ...gateway, allowedListeners: { namespaces: { from: "Same" } } };
const ofSet = { ...parent, kind: "ListenerSet", name: "listenerset" };

/** Resources that may contain the fields. */
const tokenServer = { backendRef: { name: "a", port: 80 }, path: "/token" };
const secretClient = { clientId: "aa", secretRef: { name: "a" } };
const signingClient = {
  clientId: "aa",
  method: "PrivateKeyJwt",
  privateKeyJwt: { signingKeyRef: { name: "a" }, assertionAudience: "aa" },
};

const ofModels = {
  ...listener,
  allowedRoutes: { kinds: [{ group: "gwc.dev", kind: "GatewayModel" }, { kind: "HTTPRoute" }] },
};

/** A listener with a model. */
function withModel(model: object): object {
  const listeners = [ofModels];
  return {
    Gateway: { ...gateway, listeners },
    GatewayModel: { parentRefs: [parent], ...model },
  };
}

export const seeds: readonly object[] = [
  withModel({ provider: "OpenAI" }),
  withModel({ provider: "Azure", azure: { resourceName: "aa" } }),
  withModel({
    provider: "Azure",
    azure: { resourceName: "aa", resourceType: "Foundry", projectName: "aa" },
  }),
  withModel({ provider: "VertexAI", vertexai: { projectId: "aa" } }),
  withModel({
    provider: "Bedrock",
    bedrock: { region: "eu-west-1", guardrail: { identifier: "aa", version: "1" } },
  }),
  withModel({
    ...{ provider: "Custom", baseURL: "https://one.test/v1" },
    custom: { formats: [{ type: "Completions" }] },
  }),
  withModel({
    provider: "Custom",
    custom: { formats: [{ type: "Completions" }], backendRef: service },
  }),
  { Gateway: gateway, HTTPRoute: route, GatewayPolicy: policyOf("HTTPRoute") },
  { Gateway: gateway, HTTPRoute: route, GatewayPolicy: policyOf("HTTPRoute", "one") },
  { Gateway: gateway, HTTPRoute: route, GatewayPolicy: policyOf("Gateway") },
  {
    ...withModel({ provider: "OpenAI" }),
    Gateway: { ...hasParameters, listeners: [ofModels] },
    GatewayParameters: {
      store: { redis: { secretRef: { name: "a" } } },
      usage: { by: { team: "request.method" } },
      modelCatalog: { sources: [{ configMap: { name: "a" } }] },
    },
  },
  {
    ...{ Gateway: hasParameters, HTTPRoute: route },
    GatewayParameters: {
      store: { redis: { secretRef: { name: "a" } } },
      keysApi: { keyRef: { name: "a", key: "token" } },
    },
    GatewayPolicy: {
      ...policyOf("HTTPRoute"),
      traffic: { apiKeyAuthentication: { store: true } },
    },
  },
  {
    ...{ Gateway: hasParameters, HTTPRoute: route },
    GatewayParameters: { store: { redis: { secretRef: { name: "a" } } } },
    GatewayPolicy: {
      ...policyOf("HTTPRoute"),
      traffic: { oidc: knownLogin, userConnections: connectionsPage },
    },
  },
  {
    Gateway: { ...gateway, listeners: [https] },
    HTTPRoute: route,
    GatewayPolicy: policyOf("Gateway"),
  },
  { Gateway: mutual, HTTPRoute: route, BackendTLSPolicy: secured },
  { Gateway: formerlyMutual, HTTPRoute: route, BackendTLSPolicy: secured },
  behind(fixed),
  behind(mcp),
  behind(pairOfServers),
  behind(selected),
  behind(openai),
  behind(claude),
  behind(house),
  behind(groups),
  behind(two),
  behind(claudes),
  behind(bedrock),
  behind(bedrocks),
  behind(sse),
  behind(mcp, policyOf("Gateway")),
  behind(openai, policyOf("Gateway")),
  behind({ static: amazon }),
  behind(fixed, { ...policyOf("HTTPRoute"), backend: { health: { panicThreshold: 30 } } }),
  behind(fixed, { ...policyOf("HTTPRoute"), ...tokens }),
  behind(fixed, { ...policyOf("HTTPRoute"), traffic: { oidc: knownLogin } }),
  ...[
    ...[secretClient, signingClient].flatMap((clientAuth) => [
      { oauthTokenExchange: { ...tokenServer, clientAuth } },
      { clientCredentials: { ...tokenServer, clientAuth } },
      {
        crossAppAccess: {
          identityProvider: { ...tokenServer, clientAuth },
          resourceAuthorizationServer: { ...tokenServer, clientAuth },
          audience: "aa",
          scopes: ["aa"],
        },
      },
    ]),
    { jwtSign: { signingKeyRef: { name: "a" } } },
  ].map((auth) => behind(fixed, { ...policyOf("HTTPRoute"), backend: { auth } })),
  behind(mcp, { ...policyOf("Gateway"), ...before }),
  { Gateway: gateway, HTTPRoute: route, GatewayPolicy: labelled },
  behind({ aws: { agentCore: { agentRuntimeArn } } }),
  behind({ dynamicForwardProxy: {} }, { ...policyOf("HTTPRoute"), ...authorized }),
  filtered({ type: "CORS", cors: { allowOrigins: ["https://a.test"] } }),
  filtered({ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x"] } }),
  filtered({ type: "ResponseHeaderModifier", responseHeaderModifier: { remove: ["x"] } }),
  filtered({
    type: "ExternalAuth",
    externalAuth: { protocol: "GRPC", backendRef: service, grpc: {} },
  }),
  filtered({
    type: "ExternalAuth",
    externalAuth: { protocol: "HTTP", backendRef: service, http: {} },
  }),
  filtered({ type: "URLRewrite", urlRewrite: { hostname: "a.test" } }),
  filtered({ type: "RequestMirror", requestMirror: { backendRef: service } }),
  {
    ...called({ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x"] } }),
    GatewayPolicy: policyOf("GRPCRoute", "one"),
  },
  called({ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x"] } }),
  called({ type: "ResponseHeaderModifier", responseHeaderModifier: { remove: ["x"] } }),
  called({ type: "RequestMirror", requestMirror: { backendRef: service } }),
  ...(["HTTPRoute", "GRPCRoute"] as const).flatMap((kind) => [
    filteredBackend(kind, {
      type: "RequestHeaderModifier",
      requestHeaderModifier: { remove: ["x"] },
    }),
    filteredBackend(kind, {
      type: "ResponseHeaderModifier",
      responseHeaderModifier: { remove: ["x"] },
    }),
  ]),
  {
    Gateway: gateway,
    HTTPRoute: {
      parentRefs: [parent],
      rules: [{ filters: [{ type: "RequestRedirect", requestRedirect: { hostname: "a.test" } }] }],
    },
  },
  {
    Gateway: { ...gateway, listeners: [streams] },
    TCPRoute: { ...route, rules: streamRules },
    GatewayPolicy: { ...policyOf("TCPRoute", "one"), backend: { tcp: { connectTimeout: "7s" } } },
  },
  {
    Gateway: { ...gateway, listeners: [names] },
    TLSRoute: { ...named, rules: streamRules },
    GatewayPolicy: { ...policyOf("TLSRoute", "one"), backend: { tcp: { connectTimeout: "7s" } } },
  },
  behind(lambda),
  ...[{ targetRefs: [ofPort] }, { targetSelectors: [{ ...ofPorts, port: 8080 }] }].map(
    (target) => ({
      Gateway: { ...gateway, listeners: [listener, { ...listener, name: "more", port: 8081 }] },
      HTTPRoute: route,
      GatewayPolicy: { ...target, frontend: { http: { http1IdleTimeout: "7s" } } },
    }),
  ),
  { Gateway: gateway, HTTPRoute: route, BackendTLSPolicy: secured },
  { Gateway: hasParameters, HTTPRoute: route, GatewayParameters: scaled },
  {
    Gateway: { ...hasParameters, listeners: [identified] },
    HTTPRoute: route,
    GatewayParameters: { spiffe: {} },
  },
  {
    Gateway: hasParameters,
    HTTPRoute: route,
    GatewayParameters: { workload: { kind: "DaemonSet" } },
  },
  {
    Gateway: gateway,
    HTTPRoute: { ...route, rules: [{ backendRefs: [service], timeouts: { request: "5s" } }] },
    GatewayPolicy: { ...policyOf("Gateway"), traffic: { timeouts: { request: "3s" } } },
  },
  { Gateway: gateway, HTTPRoute: route, GatewayClass: ofClass, GatewayParameters: logged },
  {
    Gateway: set,
    ListenerSet: { parentRef: parent, listeners: [{ ...https, name: "more" }] },
    HTTPRoute: { ...route, parentRefs: [ofSet] },
  },
  {
    Gateway: set,
    ListenerSet: { parentRef: parent, listeners: [{ ...listener, name: "more", port: 8081 }] },
    HTTPRoute: { ...route, parentRefs: [ofSet] },
  },
];

function object(kind: string, name: string, rest: object, of = labels): ConfigValue {
  return { apiVersion: "v1", kind, metadata: { name, labels: of }, ...rest };
}

const ports = [
  { name: "one", port: 80, appProtocol: "kgateway.dev/mcp" },
  { name: "two", port: 81 },
];
const keys = Object.fromEntries(
  [
    "tls.crt",
    "tls.key",
    "ca.crt",
    ".htaccess",
    "Authorization",
    "accessKey",
    "secretKey",
    "clientSecret",
    "url",
    "tenantId",
    "clientId",
    "credentials.json",
    "token",
    "signingKey",
    "certificate",
  ].map((key) => [key, ""]),
);

/** An API key's digest that differs by letter. */
function hashOf(letter: string): string {
  return JSON.stringify({ keyHash: `sha256:${letter.repeat(64)}` });
}

/** Resources that they refer to. */
export const world: readonly ConfigValue[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels } },
  {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayParameters",
    metadata: { name: "identified" },
    spec: { spiffe: {} },
  },
  object("Service", "a", { spec: { ports } }),
  object("Service", "b", { spec: { ports } }, { a: "bb" }),
  ...["a", "b"].flatMap((name) => [
    object("Secret", name, { stringData: keys }),
    object("ConfigMap", name, {
      data: {
        ...{ "ca.crt": "", "gwc.lock.yaml": lock(name) },
        ...{ "catalog.json": prices(name === "a" ? 1 : 2), "other.json": prices(3) },
      },
    }),
    object("ConfigMap", `keys-${name}`, { data: { one: hashOf(name) } }, { a: `${name}${name}` }),
  ]),
];

const objects = ["aa", "a", "b"];

const entra = {
  issuer: "https://a.test/t/v2.0",
  jwks: remoteKeys,
  provider: "Entra",
  clientId: "aa",
};

const front = { url: "https://a.test/oauth", redirectURIs: ["http://127.0.0.1/a"] };

const placedKey = { location: { header: { name: "x-a" } }, secretRef: { name: "a" } };

const assumeRole = {
  roleArn: "arn:aws:iam::123456789012:role/a",
  tags: [{ key: "a", value: "aa" }],
};

const targetService = { group: "", kind: "Service", name: "a" };

const expression = { key: "a", operator: "In", values: ["aa"] };
const chosen = { from: "Selector", selector: { matchLabels: { a: "aa" } } };
const pathChanges = [
  { type: "ReplacePrefixMatch", replacePrefixMatch: "/a" },
  { type: "ReplaceFullPath", replaceFullPath: "/a" },
];

/** Values of fields where the schema alone does not say what makes sense. */
export const known: KnownValues = {
  sessionPersistence: [{ absoluteTimeout: "1h" }],
  agentRuntimeArn: [agentRuntimeArn, agentRuntimeArn.replace("a-1", "b-1")],
  "GatewayClass.controllerName": ["gwc.dev/gateway", "other.test/gateway"],
  "GatewayClass.parametersRef": [ofClass.parametersRef],
  "infrastructure.parametersRef": [parameters],
  "parametersRef.group": [parameters.group, "aa"],
  "parametersRef.kind": [parameters.kind, "aa"],
  "parametersRef.name": [parameters.name, "aa"],
  "parametersRef.namespace": ["default", "aa"],
  "GatewayParameters.logging.level": ["debug", "warn"],
  "GatewayParameters.rawConfig": [
    { config: { logging: { level: "debug" } } },
    { config: { logging: { level: "warn" } } },
  ],
  "GatewayParameters.env.[].valueFrom": [
    { secretKeyRef: { name: "a", key: "b" } },
    { fieldRef: { fieldPath: "metadata.name" } },
  ],
  "GatewayParameters.image": [{ repository: "aa" }],
  "GatewayParameters.image.digest": [`sha256:${"a".repeat(64)}`, `sha256:${"b".repeat(64)}`],
  "deployment.spec": [{ replicas: 2 }, { replicas: 3 }],
  "daemonSet.spec": [{ minReadySeconds: 2 }, { minReadySeconds: 3 }],
  "workload.kind": ["DaemonSet", "Deployment"],
  "strategy.inheritance": ["Override", "Default"],
  "service.spec": [{ clusterIP: "None" }, { clusterIP: "10.0.0.1" }],
  "podDisruptionBudget.spec": [{ minAvailable: 1 }, { minAvailable: 2 }],
  "horizontalPodAutoscaler.spec": [{ maxReplicas: 2 }, { maxReplicas: 3 }],
  "parentRefs.[]": [parent],
  "parentRefs.[].group": [GATEWAY, "aa"],
  "parentRefs.[].kind": ["Gateway", "ListenerSet"],
  "parentRefs.[].name": ["gateway", "listenerset", "aa"],
  "parentRefs.[].namespace": ["default", "aa"],
  "parentRefs.[].sectionName": ["http", "more", "streams", "names", "aa"],
  "parentRefs.[].port": [8080, 8081, 9000, 9443],
  "ListenerSet.parentRef": [parent],
  "parentRef.group": [GATEWAY, "aa"],
  "parentRef.kind": ["Gateway", "aa"],
  "parentRef.name": ["gateway", "aa"],
  "ListenerSet.listeners.[]": [{ ...listener, name: "more", port: 8081 }],
  "listeners.[].tls.certificateRefs.[]": [{ name: "a" }],
  "allowedRoutes.kinds.[].group": [GATEWAY, "aa"],
  "allowedRoutes.kinds.[].kind": ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"],
  "certificateRefs.[].group": ["", "aa"],
  "certificateRefs.[].kind": ["Secret", "aa"],
  "certificateRefs.[].namespace": ["default", "aa"],
  "method.service": ["a.A", "a.B"],
  "method.method": ["A", "B"],
  "backendRefs.[].group": ["", "gwc.dev"],
  "backendRefs.[].kind": ["Service", "GatewayBackend"],
  "backendRefs.[].name": objects,
  "backendRefs.[].namespace": ["default", "aa"],
  "backendRefs.[].port": [80, 81],
  "backendRefs.[].weight": [1, 0],
  backendRef: [{ name: "a", port: 80 }],
  "backendRef.group": ["", "aa"],
  "backendRef.kind": ["Service", "aa"],
  "backendRef.name": objects,
  "backendRef.namespace": ["default", "aa"],
  "backendRef.port": [80, 81],
  "extAuth.url": ["http://one.test/check", "https://two.test/check"],
  "extProc.url": ["http://one.test", "https://two.test"],
  "global.url": ["http://one.test", "https://two.test"],
  "processors.[].remote.url": ["http://one.test", "https://two.test"],
  "remote.url": ["http://one.test/keys", "https://two.test/keys"],
  "tracing.url": ["http://one.test", "https://two.test"],
  "otlp.url": ["http://one.test", "https://two.test"],
  "static.backendRef": [{ name: "a" }, { name: "aa" }],
  a2a: [{ host: "a.test", port: 80 }],
  "rateLimit.local.[]": [
    { requests: 3, unit: "Seconds", burst: 1 },
    { tokens: 3, unit: "Seconds" },
    { budget: 3, unit: "Days", cost: "double(llm.totalTokens)" },
  ],
  "rateLimit.local.[].cost": ["double(llm.totalTokens)", "double(llm.inputTokens)"],
  "descriptors.[].limitOverride": [
    '{"unit": "minute", "requestsPerUnit": 1}',
    '{"unit": "minute", "requestsPerUnit": 2}',
  ],
  "BackendTLSPolicy.targetRefs.[]": [targetService],
  "BackendTLSPolicy.targetRefs.[].group": ["", "aa"],
  "BackendTLSPolicy.targetRefs.[].kind": ["Service", "aa"],
  "targetRefs.[].name": ["httproute", "gateway", "a", "aa"],
  "targetRefs.[].sectionName": ["one", "aa"],
  "targetRefs.[].port": [8080, 8081],
  "targetSelectors.[].port": [8080, 8081],
  "GatewayPolicy.targetRefs.[].group": [GATEWAY, "aa"],
  "GatewayPolicy.targetRefs.[].kind": ["HTTPRoute", "Gateway", "aa"],
  "caCertificateRefs.[]": [{ group: "", kind: "ConfigMap", name: "a" }],
  "caCertificateRefs.[].group": ["", "aa"],
  "caCertificateRefs.[].kind": ["ConfigMap", "aa"],
  "caCertificateRefs.[].name": objects,
  "backend.tls.caCertificateRefs.[]": [{ name: "a" }],
  "policies.tls.caCertificateRefs.[]": [{ name: "a" }],
  "subjectAltNames.[]": [
    { type: "Hostname", hostname: "b.test" },
    { type: "URI", uri: "spiffe://a/b" },
  ],
  "subjectAltNames.[].uri": ["spiffe://a/b", "spiffe://a/c"],
  "certificateRefs.[].name": objects,
  "clientCertificateRef.group": ["", "aa"],
  "clientCertificateRef.kind": ["Secret", "aa"],
  "clientCertificateRef.name": objects,
  clientCertificateRef: [{ name: "a" }],
  "perPort.[].port": [8443, 8444],
  "perPort.[]": [byPort],
  "traffic.custom.[].policy": ["a", "b"],
  "traffic.custom.[].before": ["cors", "csrf"],
  "traffic.custom.[].after": ["cors", "csrf"],
  "traffic.custom.[].with": [{ aa: "one" }],
  "traffic.custom.[].with.*": ["one", "two"],
  "traffic.custom.[].secrets": [{ key: { name: "a", key: "token" } }],
  "traffic.custom.[].secrets.*": [{ name: "a", key: "token" }],
  "traffic.custom.[].secrets.*.name": objects,
  "traffic.custom.[].secrets.*.key": ["token", "clientSecret"],
  "secretRef.name": objects,
  "keysApi.keyRef.name": ["a", "b"],
  "keysApi.keyRef.key": ["token", "clientSecret"],
  "GatewayParameters.keysApi": [{ keyRef: { name: "a", key: "token" } }],
  "secretRef.key": ["token", "clientSecret"],
  "auth.location": [{ header: { name: "x-a" } }, { cookie: { name: "a" } }],
  "credentials.[].location": [{ header: { name: "x-a" } }, { cookie: { name: "a" } }],
  "credentials.[]": [placedKey],
  secretRef: [{ name: "a" }],
  clientSecretRef: [{ name: "a" }],
  "clientSecretRef.key": ["token", "clientSecret"],
  "auth.aws": [
    { region: "eu-west-1", serviceName: "lambda" },
    { region: "eu-west-1", serviceName: "lambda", assumeRole },
  ],
  "auth.azure": [{ secretRef: { name: "a" } }, { workloadIdentity: {} }],
  "assumeRole.roleArn": ["arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:role/b"],
  "assumeRole.sessionName": ["aa", "bb"],
  "clientSecretRef.name": objects,
  "signingKeyRef.name": objects,
  "traffic.oidc": [knownLogin],
  "traffic.userConnections": [connectionsPage],
  "userConnections.url": ["https://a.test/connect", "https://a.test/other"],
  "traffic.extAuth": [
    knownAuthorization,
    { conditional: [{ condition: "false", policy: knownAuthorization }] },
    { url: "https://a.test/check", http: {} },
  ],
  ...Object.fromEntries(
    ["issuer", "authorizationEndpoint", "tokenEndpoint", "endSessionEndpoint", "redirectURI"].map(
      (field) => [`oidc.${field}`, ["https://a.test/one", "https://a.test/two"]],
    ),
  ),
  "logout.redirectURI": ["https://a.test/one", "https://a.test/two"],
  "logout.path": ["/one", "/two"],
  "mtlsCertificateRef.[].name": objects,
  "alpnProtocols.[]": ["h2", "http/1.1"],
  "tls.cipherSuites.[]": ["TLS13_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256"],
  "http.maxBufferSize": [100_000, 200_000],
  http2ConnectionWindowSize: [8_000_000, 16_000_000],
  "attributes.remove.[]": ["http.version", "duration"],
  "jwtAuthentication.providers.[]": [{ issuer: "https://a.test", jwks: { inline: keySet("a") } }],
  "Gateway.addresses": [[{ value: "192.0.2.1" }]],
  "addresses.[].type": ["IPAddress", "Hostname"],
  "addresses.[].value": ["192.0.2.1", "192.0.2.2"],
  "jwks.inline": [keySet("a"), keySet("b")],
  "jwks.remote": [remoteKeys, { url: "https://a.test/keys" }],
  "mcp.authentication": [
    { issuer: "https://a.test", jwks: remoteKeys },
    entra,
    { ...entra, clientSecretRef: { name: "a" } },
    { ...entra, authorizationServer: front },
  ],
  authorizationServer: [front],
  "authorizationServer.url": ["https://a.test/oauth", "https://a.test/other"],
  "redirectURIs.[]": ["http://127.0.0.1/a", "cursor://a/*"],
  "clientDocuments.[]": ["https://a.test/a", "https://a.test/*"],
  registrationLifetime: ["2m", "3m"],
  "mcp.authentication.jwks": [remoteKeys, { url: "https://a.test/keys" }],
  auth: [{ secretRef: { name: "a" }, credentials: [placedKey] }],
  tunnel: [{ url: "http://proxy.test:3128" }],
  "tracing.path": ["/one", "/two"],
  "otlp.path": ["/one", "/two"],
  "accessLog.otlp": [{ backendRef: service, protocol: "HTTP" }],
  unhealthyCondition: ["response.code == 500", "response.code == 501"],
  "tunnel.url": ["http://one.test:3128", "https://two.test:3128"],
  "tunnel.backendRef": [service],
  "auth.gcp": [{ type: "IdToken" }, { type: "IdToken", audience: "https://a.test" }],
  "auth.gcp.audience": ["https://a.test", "https://b.test"],
  "promptCaching.minTokens": [100, 200],
  "configMap.key": ["catalog.json", "other.json"],
  "configMap.name": ["a", "b"],
  "modelCatalog.sources.[].configMap": [{ name: "a" }, { name: "b" }],
  "spec.modelCatalog": [{ sources: [{ configMap: { name: "a" } }] }],
  "promptGuard.request.[].regex": [{ action: "Reject", matches: ["a"] }],
  "promptGuard.response.[].regex": [{ action: "Reject", matches: ["a"] }],
  "promptGuard.request.[].webhook": [{ backendRef: { name: "a", port: 80 } }],
  "promptGuard.response.[].webhook": [{ backendRef: { name: "a", port: 80 } }],
  "guards.request.[].regex": [{ action: "Reject", matches: ["a"] }],
  "guards.response.[].regex": [{ action: "Reject", matches: ["a"] }],
  "webhook.forwardHeaderMatches.[].value": ["a+", "b+"],
  openAIModeration: [{ policies: { auth: { secretRef: { name: "a" } } } }],
  externalModeration: [{ policies: { auth: { secretRef: { name: "a" } } } }],
  "GatewayModel.provider": ["OpenAI", "Anthropic"],
  "GatewayModel.baseURL": ["https://one.test/v1", "https://two.test/v1"],
  "match.model": ["aa", "bb"],
  "ai.routes.*": ["Completions", "Messages"],
  "modelAliases.*": ["m", "n"],
  custom: [{ formats: [{ type: "Completions" }], backendRef: service }],
  azureopenai: [{ endpoint: "a.test", deploymentName: "d", apiVersion: "v1" }],
  llmProvider2: [{ endpoint: "a.test", deploymentName: "d", apiVersion: "v1" }],
  apiVersion: ["preview", "2024-10-21"],
  "selector.services.matchLabels": [{ a: "aa" }, { a: "bb" }],
  "configMapSelector.matchLabels": [{ a: "aa" }, { a: "bb" }],
  "targetSelectors.[].group": [GATEWAY, "aa"],
  "targetSelectors.[].kind": ["HTTPRoute", "Gateway"],
  "targetSelectors.[].sectionName": ["one", "aa"],
  "traffic.apiKeyAuthentication": [{ secretRef: { name: "a" } }],
  oauthTokenExchange: [{ url: "https://a.test/token" }],
  clientCredentials: [{ url: "https://a.test/token", clientAuth: secretClient }],
  "clientCredentials.url": ["https://a.test/one", "https://a.test/two"],
  "clientCredentials.path": ["/a", "/b"],
  "oauthTokenExchange.url": ["https://a.test/one", "https://a.test/two"],
  clientAuth: [
    { clientId: "aa", secretRef: { name: "a" } },
    {
      clientId: "aa",
      method: "PrivateKeyJwt",
      privateKeyJwt: { signingKeyRef: { name: "a" }, assertionAudience: "aa" },
    },
  ],
  "clientAuth.method": ["ClientSecretPost", "ClientSecretBasic"],
  "signingKeyRef.key": ["signingKey", "token"],
  privateKeyJwt: [
    {
      signingKeyRef: { name: "a" },
      certificateRef: { name: "a" },
      certificateHeader: "x5c",
      assertionAudience: "aa",
    },
  ],
  "certificateRef.name": objects,
  "certificateRef.key": ["certificate", "token"],
  "oauthTokenExchange.path": ["/a", "/b"],
  "identityProvider.path": ["/a", "/b"],
  "resourceAuthorizationServer.path": ["/a", "/b"],
  actorToken: [{ source: { cookie: { name: "aa" } } }],
  "actorToken.tokenType": ["Jwt", "IdToken"],
  crossAppAccess: [
    {
      identityProvider: {
        url: "https://a.test/token",
        clientAuth: { clientId: "aa", secretRef: { name: "a" } },
      },
      resourceAuthorizationServer: {
        url: "https://b.test/token",
        clientAuth: { clientId: "aa", secretRef: { name: "a" } },
      },
      audience: "aa",
      scopes: ["aa"],
    },
  ],
  jwtSign: [{ signingKeyRef: { name: "a" } }],
  "oauthTokenExchange.additionalParams.*": ["'a'", "'b'"],
  "urlRewrite.path": pathChanges,
  "requestRedirect.path": pathChanges,
  replacePrefixMatch: ["/a", "/b"],
  "sessions.idleTimeout": ["7s", "11s"],
  "mcp.toolLock": [{ name: "a" }],
  "toolLock.name": objects,
  "mcp.tools": [
    [{ target: "one", tool: "a", name: "x", description: "X", set: { b: 1 }, hide: ["c"] }],
  ],
  "tools.[].target": ["one", "two"],
  "mcp.sessions": [{ max: 50, maxPerCaller: 7 }],
  "allowedRoutes.namespaces": [chosen],
  "allowedListeners.namespaces": [chosen],
  "delay.duration": ["7s", "11s"],
  "dynamicForwardProxy.target": ['"a.test:80"', '"b.test:80"'],
  "cache.ttl": ["7s", "11s"],
  "extAuth.http.path": ['"/a"', '"/b"'],
  "extAuth.http.redirect": ['"/a"', '"/b"'],
  "extAuth.grpc.requestMetadata.*": ["{'a': 'b'}", "{'a': 'c'}"],
  "global.descriptors.[].cost": ["1", "2"],
  "selector.matchExpressions.[]": [expression],
  "services.matchExpressions.[]": [expression],
  "namespaces.matchExpressions.[]": [expression],
  "rules.[].name": ["one", "aa"],
  "matchExpressions.[].key": ["a", "zz"],
  "matchLabels.*": ["aa", "bb"],
  "namespaces.from": ["All", "Same", "None", "Selector"],
  "tls.mode": ["Terminate", "Passthrough"],
  "cipherSuites.[]": ["TLS13_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256"],
  cipherSuites: [["TLS13_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]],
  "filters.[].cors": [{ allowOrigins: ["https://a.test"] }],
};

/** Fields that name another resource or a part of one, or say who may: most other values let nobody in. */
export const references =
  /[rR]efs?(\.\[\])?\.(group|kind|name|namespace|sectionName|port)$|targetSelectors\.|matchLabels|allowedRoutes|allowedListeners|controllerName|tls\.mode|protocol$|type$|selector\.|rules\.\[\]\.name/;

/** Fields that cannot act in some place: using them there is a mistake. */
export const told: readonly (readonly [part: string, code: string])[] = [
  ["providers.[].policies.ai.routes.", "routes-of-provider"],
  ["providers.[].policies.health.active.", "misplaced-field"],
  ["providers.[].policies.health.panicThreshold", "misplaced-field"],
  ["GatewayParameters.mesh.", "mesh-without-controller"],
  ["GatewayParameters.istio.", "mesh-without-controller"],
  ["GatewayParameters.serviceAccount.spec", "broken-rule"],
];
