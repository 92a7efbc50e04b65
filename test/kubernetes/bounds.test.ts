import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { isGood } from "./shapes.ts";

/** The last good and the first bad value of a field; its place is a path such as `spec.static.port`. */
type Bound = readonly [path: string, good: unknown, bad: unknown];

const chars = (count: number, char = "a"): string => char.repeat(count);
const items = <Item>(count: number, item: Item | ((index: number) => Item)): readonly Item[] =>
  Array.from({ length: count }, (_, index) =>
    typeof item === "function" ? (item as (index: number) => Item)(index) : item,
  );
const entries = (count: number, value: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(items(count, (index) => [`key${index}`, value]));

/** A text of at least one and at most so many characters. */
const text = (path: string, max: number, char = "a"): readonly Bound[] => [
  [path, chars(1, char), ""],
  [path, chars(max, char), chars(max + 1, char)],
];
const shortText = (path: string): readonly Bound[] => text(path, 256);
const tinyText = (path: string): readonly Bound[] => text(path, 64);
const longText = (path: string): readonly Bound[] => text(path, 1024);
const cel = (path: string): readonly Bound[] => text(path, 16384, "1");
const number = (path: string, min: number, max?: number): readonly Bound[] => [
  [path, min, min - 1],
  ...(max === undefined ? [] : [[path, max, max + 1] as const]),
  [path, min, min + 0.5],
];
const word = (path: string, ...words: readonly (string | number)[]): readonly Bound[] =>
  words.map((each) => [path, each, `${each}x`] as const);
const list = (path: string, max: number, item: unknown, min = 1): readonly Bound[] => [
  ...(min === 0 ? [] : [[path, items(min, item), items(min - 1, item)] as const]),
  [path, items(max, item), items(max + 1, item)],
];
const named = (path: string, max: number, item: (index: number) => unknown): readonly Bound[] => [
  [path, items(max, item), items(max + 1, item)],
  [path, items(1, item), []],
];
const map = (path: string, max: number, value: unknown): readonly Bound[] => [
  [path, entries(max, value), entries(max + 1, value)],
];
const span = (path: string): readonly Bound[] => [
  [path, "99999h", "100000h"],
  [path, "1h2m3s4ms", "1h2m3s4ms5ms"],
  [path, "1s", "-1s"],
  [path, "1s", "1.5s"],
  [path, "1s", "1us"],
];
/** Exactly one of some fields: each alone is good, two or none are bad. */
const oneOf = (path: string, choices: Readonly<Record<string, unknown>>): readonly Bound[] => {
  const names = Object.keys(choices);
  const only = (...chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((name) => [name, choices[name]]));
  return [
    ...names.map((name) => [path, only(name), {}] as const),
    [path, only(names[0] ?? ""), only(names[0] ?? "", names[1] ?? "")],
  ];
};
const someOf = (path: string, choices: Readonly<Record<string, unknown>>): readonly Bound[] =>
  Object.entries(choices).map(([name, value]) => [path, { [name]: value }, {}] as const);
const needs = (path: string, whole: Readonly<Record<string, unknown>>, ...fields: string[]) =>
  fields.map((field): Bound => {
    const { [field]: _, ...rest } = whole;
    return [path, whole, rest];
  });

const service = { name: "web", port: 80 };
const keys = { jwksPath: "/k", backendRef: service };
const server = { host: "a", port: 1 };
const http = { set: [{ name: "a", value: "'b'" }] };

/** Every field that ends in a connection to a backend. */
function simpleBounds(at: string): readonly Bound[] {
  const tls = `${at}.tls`;
  return [
    ...number(`${at}.tcp.keepalive.retries`, 1, 64),
    ...span(`${at}.tcp.keepalive.time`),
    ...span(`${at}.tcp.keepalive.interval`),
    ...span(`${at}.tcp.connectTimeout`),
    ...list(`${tls}.mtlsCertificateRef`, 1, { name: "a" }, 0),
    ...list(`${tls}.caCertificateRefs`, 1, { name: "a" }, 0),
    ...word(`${tls}.insecureSkipVerify`, "All", "Hostname"),
    ...text(`${tls}.sni`, 253),
    [`${tls}.sni`, "a-1.b", "A"],
    [`${tls}.sni`, "a-1.b", "a_b"],
    [`${tls}.sni`, "a-1.b", "a."],
    ...list(`${tls}.verifySubjectAltNames`, 16, "a"),
    ...shortText(`${tls}.verifySubjectAltNames.0`),
    ...list(`${tls}.alpnProtocols`, 16, "h2"),
    ...tinyText(`${tls}.alpnProtocols.0`),
    [
      tls,
      { insecureSkipVerify: "All" },
      { insecureSkipVerify: "All", verifySubjectAltNames: ["a"] },
    ],
    ...word(`${at}.http.version`, "HTTP1", "HTTP2"),
    ...span(`${at}.http.requestTimeout`),
    [`${at}.auth.key`, chars(2048), chars(2049)],
    [`${at}.auth.secretRef`, { name: "a" }, {}],
    [`${at}.auth.aws`, { secretRef: { name: "a" } }, { secretRef: {} }],
    ...word(`${at}.auth.gcp.type`, "AccessToken", "IdToken"),
    [
      `${at}.auth.gcp`,
      { type: "IdToken", audience: chars(256) },
      { type: "IdToken", audience: chars(257) },
    ],
    [`${at}.auth.gcp`, { type: "IdToken", audience: "a" }, { type: "AccessToken", audience: "a" }],
    ...oneOf(`${at}.auth`, {
      ...{ key: "a", secretRef: { name: "a" }, passthrough: {}, aws: {} },
      gcp: { type: "AccessToken" },
    }),
  ];
}

function authorizationBounds(at: string): readonly Bound[] {
  const policy = { matchExpressions: ["true"] };
  return [
    ...needs(at, { policy }, "policy"),
    ...needs(`${at}.policy`, policy, "matchExpressions"),
    ...cel(`${at}.policy.matchExpressions.0`).map(
      ([path, good, bad]): Bound => [path.replace(/\.0$/, ""), [good], [bad]],
    ),
    ...["Allow", "Deny", "Require"].map(
      (action): Bound => [at, { policy, action }, { policy, action: `${action}x` }],
    ),
  ];
}

function jwksBounds(at: string): readonly Bound[] {
  const with_ = (field: string, value: unknown) => ({ ...keys, [field]: value });
  return [
    ...needs(at, keys, "jwksPath", "backendRef"),
    [at, with_("jwksPath", chars(2000)), with_("jwksPath", chars(2001))],
    [at, keys, with_("jwksPath", "")],
    [at, with_("cacheDuration", "5m"), with_("cacheDuration", "5")],
    [
      at,
      with_("backendRef", { ...service, port: 65535 }),
      with_("backendRef", { ...service, port: 65536 }),
    ],
    [
      at,
      with_("backendRef", { ...service, port: 1 }),
      with_("backendRef", { ...service, port: 0 }),
    ],
  ];
}

function aiBounds(at: string): readonly Bound[] {
  const field = { field: "a", value: 1 };
  const regex = { regex: { builtins: ["Ssn"] } };
  const guard = `${at}.promptGuard`;
  return [
    ...["prepend", "append"].flatMap((side) =>
      needs(`${at}.prompt.${side}.0`, { role: "SYSTEM", content: "a" }, "role", "content"),
    ),
    ...["defaults", "overrides"].flatMap((each) => [
      ...list(`${at}.${each}`, 64, field),
      ...needs(`${at}.${each}.0`, field, "field", "value"),
      [
        `${at}.${each}.0`,
        { ...field, field: chars(256) },
        { ...field, field: chars(257) },
      ] as const,
    ]),
    ...map(`${at}.modelAliases`, 64, "m"),
    ...[
      ..."Completions Messages Models Passthrough Responses TokenCount Embeddings Realtime".split(
        " ",
      ),
    ].flatMap((each) => word(`${at}.routes.x`, each)),
    ...number(`${at}.promptCaching.minTokens`, 0),
    [`${at}.promptCaching.cacheSystem`, true, "yes"],
    [`${at}.promptCaching.cacheMessages`, false, 1],
    [`${at}.promptCaching.cacheTools`, true, "no"],
    ...someOf(guard, { request: [regex], response: [regex] }),
    ...list(`${guard}.request`, 8, regex),
    ...list(`${guard}.response`, 8, regex),
    ...oneOf(`${guard}.request.0`, {
      ...regex,
      webhook: { backendRef: service },
      externalModeration: {},
    }),
    ...oneOf(`${guard}.response.0`, { ...regex, webhook: { backendRef: service } }),
    ...word(`${guard}.request.0.regex.action`, "Mask", "Reject"),
    ...["Ssn", "CreditCard", "PhoneNumber", "Email", "CaSin"].flatMap((each) =>
      word(`${guard}.request.0.regex.builtins.0`, each),
    ),
    ...longText(`${guard}.request.0.regex.matches.0`),
    ...needs(`${guard}.request.0.webhook`, { backendRef: service }, "backendRef"),
    ...(
      [
        ["statusCode", 200, 199],
        ["statusCode", 599, 600],
      ] as const
    ).map(
      ([name, good, bad]): Bound => [
        `${guard}.request.0`,
        { ...regex, response: { [name]: good } },
        { ...regex, response: { [name]: bad } },
      ],
    ),
    [`${guard}.request.0`, { ...regex, response: { message: "a" } }, { ...regex, response: {} }],
  ];
}

const mcpAuthentication = { issuer: "a", jwks: keys };

function mcpBounds(at: string): readonly Bound[] {
  const whole = (more: object) => ({ ...mcpAuthentication, ...more });
  const place = `${at}.mcp.authentication`;
  return [
    ...someOf(`${at}.mcp`, {
      authorization: { policy: { matchExpressions: ["true"] } },
      authentication: mcpAuthentication,
    }),
    ...authorizationBounds(`${at}.mcp.authorization`),
    ...needs(place, mcpAuthentication, "jwks"),
    ...jwksBounds(`${place}.jwks`),
    ...["Auth0", "Keycloak", "IdpKind1", "IdpKind2"].map(
      (provider): Bound => [place, whole({ provider }), whole({ provider: "Other" })],
    ),
    [place, whole({ issuer: chars(256) }), whole({ issuer: chars(257) })],
    [place, whole({ audiences: items(64, "a") }), whole({ audiences: items(65, "a") })],
    [place, whole({ audiences: ["a"] }), whole({ audiences: [] })],
    ...["Strict", "Optional", "Permissive"].map(
      (mode): Bound => [place, whole({ mode }), whole({ mode: mode.toLowerCase() })],
    ),
  ];
}

const backendSections = { tcp: {}, tls: {}, http: {}, auth: { passthrough: {} } };

const backendBounds: readonly Bound[] = [
  ...oneOf("spec", {
    static: server,
    mcp: { targets: [{ name: "a", static: server }] },
    ai: { provider: { openai: {} } },
    dynamicForwardProxy: {},
  }),
  ...needs("spec.static", server, "host", "port"),
  ...shortText("spec.static.host"),
  ...number("spec.static.port", 1, 65535),
];

const policiesBounds: readonly Bound[] = [
  ...someOf("spec.policies", {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
    ai: { modelAliases: {} },
  }),
  ...simpleBounds("spec.policies"),
  ...mcpBounds("spec.policies"),
  ...aiBounds("spec.policies.ai"),
  ["spec.policies.ai", { routes: {} }, {}],
];

const mcpTarget = "spec.mcp.targets.0";
const mcpBackendBounds: readonly Bound[] = [
  ...named("spec.mcp.targets", 32, (index) => ({ name: `t${index}`, static: server })),
  ...word("spec.mcp.sessionRouting", "Stateful", "Stateless"),
  ["spec.mcp.targets.0.name", chars(253), chars(254)],
  [`${mcpTarget}.name`, "a-1", "A"],
  ...oneOf(mcpTarget, { static: server, selector: { services: {} } }).map(
    ([path, good, bad]): Bound => [
      path,
      { name: "a", ...(good as object) },
      { name: "a", ...(bad as object) },
    ],
  ),
  ...someOf(mcpTarget, { namespaces: {}, services: {} }).map(
    ([path, good]): Bound => [path, { name: "a", selector: good }, { name: "a", selector: {} }],
  ),
  ...needs(`${mcpTarget}.static`, server, "host", "port"),
  ...shortText(`${mcpTarget}.static.host`),
  ...number(`${mcpTarget}.static.port`, 1, 65535),
  ...longText(`${mcpTarget}.static.path`),
  ...word(`${mcpTarget}.static.protocol`, "StreamableHTTP", "SSE"),
  ...someOf(`${mcpTarget}.static.policies`, {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
  }),
  ...simpleBounds(`${mcpTarget}.static.policies`),
  ...mcpBounds(`${mcpTarget}.static.policies`),
  [`${mcpTarget}.static.policies`, { tcp: {} }, { ai: { routes: {} } }],
];

const provider = "spec.ai.provider";
const providers = {
  ...{ openai: {}, azureopenai: { endpoint: "a", deploymentName: "b" }, anthropic: {}, gemini: {} },
  ...{ vertexai: { projectId: "a", region: "b" }, bedrock: {} },
};
const guardrail = { identifier: "a", version: "1" };
const group = (name: string) => ({ providers: [{ name, openai: {} }] });
const aiBackendBounds: readonly Bound[] = [
  ...oneOf("spec.ai", { provider: { openai: {} }, groups: [group("a")] }),
  ...oneOf(provider, providers),
  ...oneOf(provider, {
    ...{ llmProvider1: {}, llmProvider2: { endpoint: "a" }, llmProvider3: {}, llmProvider4: {} },
    ...{ llmProvider5: { projectId: "a", region: "b" }, llmProvider6: {} },
  }),
  ...["openai", "anthropic", "gemini"].flatMap((each): readonly Bound[] => [
    [provider, { [each]: { model: chars(256) } }, { [each]: { model: chars(257) } }],
    [provider, { [each]: { model: "a" } }, { [each]: { model: "" } }],
  ]),
  [provider, { azureopenai: { endpoint: "a" } }, { azureopenai: {} }],
  [provider, { azureopenai: { endpoint: chars(256) } }, { azureopenai: { endpoint: chars(257) } }],
  [
    provider,
    { azureopenai: { endpoint: "a", apiVersion: "2024-02-01", deploymentName: "d" } },
    { azureopenai: { endpoint: "a", apiVersion: "2024-02-01" } },
  ],
  [
    provider,
    { azureopenai: { endpoint: "a", deploymentName: "d", apiVersion: chars(64) } },
    { azureopenai: { endpoint: "a", deploymentName: "d", apiVersion: chars(65) } },
  ],
  ...needs(provider, { vertexai: providers.vertexai }, "vertexai"),
  ...(["projectId", "region"] as const).flatMap((field): readonly Bound[] => [
    [
      provider,
      { vertexai: { ...providers.vertexai, [field]: chars(64) } },
      { vertexai: { ...providers.vertexai, [field]: chars(65) } },
    ],
    [provider, { vertexai: providers.vertexai }, { vertexai: { [field]: "a" } }],
  ]),
  [provider, { bedrock: { region: chars(63) } }, { bedrock: { region: chars(64) } }],
  [provider, { bedrock: { region: "eu-1" } }, { bedrock: { region: "EU" } }],
  [provider, { bedrock: { guardrail } }, { bedrock: { guardrail: { identifier: "a" } } }],
  [provider, { bedrock: { guardrail } }, { bedrock: { guardrail: { version: "a" } } }],
  [provider, { openai: {}, host: chars(256) }, { openai: {}, host: chars(257) }],
  [provider, { openai: {}, port: 65535 }, { openai: {}, port: 65536 }],
  [provider, { openai: {}, port: 1 }, { openai: {}, port: 0 }],
  [provider, { openai: {}, path: chars(1024) }, { openai: {}, path: chars(1025) }],
  ...named("spec.ai.groups", 32, (index) => group(`p${index}`)),
  ...named("spec.ai.groups.0.providers", 32, (index) => ({ name: `p${index}`, openai: {} })),
  ["spec.ai.groups", [group("a"), group("b")], [group("a"), group("a")]],
  ["spec.ai.groups.0", group("a"), {}],
  [
    "spec.ai.groups.0.providers.0",
    { name: "a", openai: {}, policies: { auth: { key: "k" } } },
    { name: "a", openai: {}, policies: { mcp: { authentication: mcpAuthentication } } },
  ],
  [
    "spec.ai.groups.0.providers.0",
    { name: "a", openai: {}, policies: { ai: { routes: {} } } },
    { name: "a", openai: {}, policies: {} },
  ],
  ["spec.ai.groups.0.providers.0", { name: "a", openai: {} }, { openai: {} }],
];

const target = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw" };
const selector = { group: "gateway.networking.k8s.io", kind: "Gateway", matchLabels: { a: "b" } };
const policyBounds: readonly Bound[] = [
  ...oneOf("spec", { targetRefs: [target], targetSelectors: [selector] }),
  ...list("spec.targetRefs", 16, target),
  ...needs("spec.targetRefs.0", target, "group", "kind", "name"),
  ["spec", { targetSelectors: items(16, selector) }, { targetSelectors: items(17, selector) }],
  ["spec", { targetSelectors: [selector] }, { targetSelectors: [] }],
  ["spec", { targetSelectors: [selector] }, { targetSelectors: [target] }],
];

const tls = "spec.frontend.tls";
const httpFields = "spec.frontend.http";
const added = { name: "a", expression: "1" };
const frontendBounds: readonly Bound[] = [
  ["spec.frontend.tcp", { keepalive: {} }, {}],
  ...number("spec.frontend.tcp.keepalive.retries", 1, 64),
  ...span("spec.frontend.tcp.keepalive.time"),
  ...span("spec.frontend.tcp.keepalive.interval"),
  [tls, { handshakeTimeout: "15s" }, {}],
  ...span(`${tls}.handshakeTimeout`),
  ...list(`${tls}.alpnProtocols`, 16, "h2"),
  ...tinyText(`${tls}.alpnProtocols.0`),
  ...word(`${tls}.minProtocolVersion`, "1.2", "1.3"),
  ...word(`${tls}.maxProtocolVersion`, "1.2", "1.3"),
  [`${tls}.minProtocolVersion`, "1.2", "1.1"],
  ...["TLS13_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256", "TLS13_CHACHA20_POLY1305_SHA256"]
    .concat(
      ["ECDSA", "RSA"].flatMap((key) =>
        ["AES_256_GCM_SHA384", "AES_128_GCM_SHA256", "CHACHA20_POLY1305_SHA256"].map(
          (suite) => `TLS_ECDHE_${key}_WITH_${suite}`,
        ),
      ),
    )
    .flatMap((suite) => word(`${tls}.cipherSuites.0`, suite)),
  [httpFields, { maxBufferSize: 1 }, {}],
  ...number(`${httpFields}.maxBufferSize`, 1),
  ...number(`${httpFields}.http1MaxHeaders`, 1, 4096),
  ...span(`${httpFields}.http1IdleTimeout`),
  ...number(`${httpFields}.http2WindowSize`, 1),
  ...number(`${httpFields}.http2ConnectionWindowSize`, 1),
  ...number(`${httpFields}.http2FrameSize`, 16384, 1677215),
  ...span(`${httpFields}.http2KeepaliveInterval`),
  ...span(`${httpFields}.http2KeepaliveTimeout`),
  ...cel("spec.frontend.accessLog.filter"),
  ...someOf("spec.frontend.accessLog.attributes", { remove: ["a"], add: [added] }),
  ...list("spec.frontend.accessLog.attributes.remove", 32, "a"),
  ...tinyText("spec.frontend.accessLog.attributes.remove.0"),
  ["spec.frontend.accessLog.attributes.add", [added], []],
  ...needs("spec.frontend.accessLog.attributes.add.0", added, "name", "expression"),
  ["spec.frontend.tracing", { backendRef: service }, {}],
  ...["HTTP", "GRPC"].map(
    (protocol): Bound => [
      "spec.frontend.tracing",
      { backendRef: service, protocol },
      { backendRef: service, protocol: protocol.toLowerCase() },
    ],
  ),
  ...["randomSampling", "clientSampling"].map(
    (field): Bound => [
      "spec.frontend.tracing",
      { backendRef: service, [field]: chars(16384, "1") },
      { backendRef: service, [field]: chars(16385, "1") },
    ],
  ),
  [
    "spec.frontend.tracing",
    { backendRef: service, resources: [added] },
    { backendRef: service, resources: [{ name: "a" }] },
  ],
];

const traffic = "spec.traffic";
const transform = `${traffic}.transformation.request`;
const entry = { name: "a", expression: "1" };
const descriptor = { entries: [entry] };
const globalLimit = { backendRef: service, domain: "a", descriptors: [descriptor] };
const limit = (more: object) => ({ ...globalLimit, ...more });
const auth = (more: object) => ({ backendRef: service, ...more });
const jwtProvider = { issuer: "a", jwks: { inline: "{}" } };
const trafficBounds: readonly Bound[] = [
  ...word(`${traffic}.phase`, "PostRouting", "PreRouting"),
  ...someOf(`${traffic}.transformation`, { request: http, response: http }),
  ...someOf(transform, { ...http, add: http.set, remove: ["a"], body: "'x'" }),
  ...["set", "add"].flatMap((each) => [
    ...list(`${transform}.${each}`, 16, http.set[0]),
    ...needs(`${transform}.${each}.0`, { name: "a", value: "1" }, "name", "value"),
  ]),
  ...list(`${transform}.remove`, 16, "a"),
  ...text(`${transform}.remove.0`, 256),
  [`${transform}.remove.0`, ":path", "a:b"],
  [`${transform}.remove.0`, "x-A_1!", "a b"],
  ...cel(`${transform}.body`),
  [`${traffic}.extProc`, { backendRef: service }, {}],
  ...oneOf(`${traffic}.extAuth`, { grpc: {}, http: {} }).map(
    ([path, good, bad]): Bound => [path, auth(good as object), auth(bad as object)],
  ),
  ...needs(`${traffic}.extAuth`, auth({ http: {} }), "backendRef"),
  ...(
    [
      ["grpc", "contextExtensions", "a"],
      ["grpc", "requestMetadata", "1"],
      ["http", "addRequestHeaders", "1"],
      ["http", "responseMetadata", "1"],
    ] as const
  ).map(
    ([kind, field, value]): Bound => [
      `${traffic}.extAuth`,
      auth({ [kind]: { [field]: entries(64, value) } }),
      auth({ [kind]: { [field]: entries(65, value) } }),
    ],
  ),
  ...["allowedRequestHeaders", "allowedResponseHeaders"].map(
    (field): Bound => [
      `${traffic}.extAuth`,
      auth({ http: { [field]: items(64, "a") } }),
      auth({ http: { [field]: items(65, "a") } }),
    ],
  ),
  ...["path", "redirect"].map(
    (field): Bound => [
      `${traffic}.extAuth`,
      auth({ http: { [field]: chars(16384, "1") } }),
      auth({ http: { [field]: chars(16385, "1") } }),
    ],
  ),
  [
    `${traffic}.extAuth`,
    auth({ http: {}, forwardBody: { maxSize: 1 } }),
    auth({ http: {}, forwardBody: { maxSize: 0 } }),
  ],
  [
    `${traffic}.extAuth`,
    auth({ http: {}, forwardBody: { maxSize: 1 } }),
    auth({ http: {}, forwardBody: {} }),
  ],
  ...someOf(`${traffic}.rateLimit`, {
    local: [{ requests: 1, unit: "Hours" }],
    global: globalLimit,
  }),
  ...list(`${traffic}.rateLimit.local`, 16, { requests: 1, unit: "Seconds" }),
  ...oneOf(`${traffic}.rateLimit.local.0`, { requests: 1, tokens: 1 }).map(
    ([path, good, bad]): Bound => [
      path,
      { unit: "Minutes", ...(good as object) },
      { unit: "Minutes", ...(bad as object) },
    ],
  ),
  ...["requests", "tokens"].map(
    (field): Bound => [
      `${traffic}.rateLimit.local.0`,
      { unit: "Hours", [field]: 1 },
      { unit: "Hours", [field]: 0 },
    ],
  ),
  [`${traffic}.rateLimit.local.0`, { requests: 1, unit: "Seconds" }, { requests: 1 }],
  [`${traffic}.rateLimit.local.0`, { requests: 1, unit: "Seconds" }, { requests: 1, unit: "Days" }],
  ...needs(`${traffic}.rateLimit.global`, globalLimit, "backendRef", "domain", "descriptors"),
  [`${traffic}.rateLimit.global`, limit({ domain: chars(256) }), limit({ domain: chars(257) })],
  [
    `${traffic}.rateLimit.global`,
    limit({ descriptors: items(16, descriptor) }),
    limit({ descriptors: items(17, descriptor) }),
  ],
  [`${traffic}.rateLimit.global`, globalLimit, limit({ descriptors: [] })],
  [
    `${traffic}.rateLimit.global`,
    limit({ descriptors: [{ entries: items(16, entry) }] }),
    limit({ descriptors: [{ entries: items(17, entry) }] }),
  ],
  [
    `${traffic}.rateLimit.global`,
    limit({ descriptors: [{ entries: [{ ...entry, name: chars(64) }] }] }),
    limit({ descriptors: [{ entries: [{ ...entry, name: chars(65) }] }] }),
  ],
  ...["Requests", "Tokens"].map(
    (unit): Bound => [
      `${traffic}.rateLimit.global`,
      limit({ descriptors: [{ ...descriptor, unit }] }),
      limit({ descriptors: [{ ...descriptor, unit: "Bytes" }] }),
    ],
  ),
  ...list(`${traffic}.csrf.additionalOrigins`, 16, "https://a"),
  ...shortText(`${traffic}.csrf.additionalOrigins.0`),
  ...someOf(`${traffic}.headerModifiers`, {
    request: { remove: ["a"] },
    response: { remove: ["a"] },
  }),
  ...word(`${traffic}.hostRewrite.mode`, "Auto", "None"),
  [`${traffic}.hostRewrite`, { mode: "Auto" }, {}],
  ...span(`${traffic}.timeouts.request`),
  ...number(`${traffic}.retry.codes.0`, 400, 599),
  ...span(`${traffic}.retry.backoff`),
  ...authorizationBounds(`${traffic}.authorization`),
  [`${traffic}.jwtAuthentication`, { providers: [jwtProvider] }, {}],
  ...list(`${traffic}.jwtAuthentication.providers`, 64, jwtProvider),
  ...needs(`${traffic}.jwtAuthentication.providers.0`, jwtProvider, "issuer", "jwks"),
  ...["Strict", "Optional", "Permissive"].map(
    (mode): Bound => [
      `${traffic}.jwtAuthentication`,
      { mode, providers: [jwtProvider] },
      { mode: "None", providers: [jwtProvider] },
    ],
  ),
  ...shortText("issuer").map(
    ([, good, bad]): Bound => [
      `${traffic}.jwtAuthentication.providers.0`,
      { ...jwtProvider, issuer: good },
      { ...jwtProvider, issuer: bad },
    ],
  ),
  ...list("audiences", 64, "a").map(
    ([, good, bad]): Bound => [
      `${traffic}.jwtAuthentication.providers.0`,
      { ...jwtProvider, audiences: good },
      { ...jwtProvider, audiences: bad },
    ],
  ),
  ...[
    [{ inline: "{}" }, { inline: "{" }],
    [{ inline: chars(65536) }, { inline: chars(65537) }],
    [{ remote: keys }, {}],
    [{ remote: keys }, { remote: keys, inline: "{}" }],
  ].map(
    ([good, bad]): Bound => [
      `${traffic}.jwtAuthentication.providers.0`,
      { ...jwtProvider, jwks: good },
      { ...jwtProvider, jwks: bad },
    ],
  ),
  ...oneOf(`${traffic}.basicAuthentication`, { users: ["a:b"], secretRef: { name: "a" } }),
  ...list(`${traffic}.basicAuthentication.users`, 256, "a:b"),
  ...["Strict", "Optional"].map(
    (mode): Bound => [
      `${traffic}.basicAuthentication`,
      { mode, users: ["a:b"] },
      { mode: "Permissive", users: ["a:b"] },
    ],
  ),
  ...oneOf(`${traffic}.apiKeyAuthentication`, {
    secretRef: { name: "a" },
    secretSelector: { matchLabels: {} },
  }),
  [
    `${traffic}.apiKeyAuthentication`,
    { secretSelector: { matchLabels: {} } },
    { secretSelector: {} },
  ],
  ...["Strict", "Optional"].map(
    (mode): Bound => [
      `${traffic}.apiKeyAuthentication`,
      { mode, secretRef: { name: "a" } },
      { mode: "Permissive", secretRef: { name: "a" } },
    ],
  ),
  [`${traffic}.directResponse`, { status: 200 }, {}],
  ...number(`${traffic}.directResponse.status`, 200, 599),
  ...(
    [
      [chars(1), ""],
      [chars(4096), chars(4097)],
    ] as const
  ).map(
    ([good, bad]): Bound => [
      `${traffic}.directResponse`,
      { status: 200, body: good },
      { status: 200, body: bad },
    ],
  ),
];

const trafficRules: readonly Bound[] = [
  ...someOf("spec.backend", {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
    ai: { routes: {} },
  }),
  ...simpleBounds("spec.backend"),
  ...mcpBounds("spec.backend"),
  ...aiBounds("spec.backend.ai"),
];

const parametersBounds: readonly Bound[] = [
  ...word("spec.logging.format", "json", "text"),
  ...["registry", "repository", "tag", "digest", "pullPolicy"].map(
    (field): Bound => [`spec.image.${field}`, "a", 1],
  ),
  ["spec.shutdown", { min: 0, max: 31536000 }, { min: 0, max: 31536001 }],
  ["spec.shutdown", { min: 0, max: 0 }, { min: -1, max: 0 }],
  ["spec.shutdown", { min: 1, max: 1 }, { min: 1 }],
  ["spec.shutdown", { min: 1, max: 1 }, { max: 1 }],
  ["spec.mesh", { caAddress: "a", trustDomain: "b" }, { caAddress: "" }],
  ["spec.env", [{ name: "A", value: "b" }], [{ value: "b" }]],
  ...[
    "deployment",
    "service",
    "serviceAccount",
    "podDisruptionBudget",
    "horizontalPodAutoscaler",
  ].flatMap((each): readonly Bound[] => [
    [`spec.${each}`, { metadata: { labels: { a: "b" } }, spec: {} }, { spec: 1 }],
    [`spec.${each}.metadata.annotations`, { a: "b" }, { a: 1 }],
  ]),
  ["spec.rawConfig", { config: {} }, "config"],
];

const tables: readonly {
  readonly kind: string;
  readonly base: object;
  readonly bounds: readonly Bound[];
}[] = [
  { kind: "GatewayBackend", base: { spec: { static: server } }, bounds: backendBounds },
  { kind: "GatewayBackend", base: { spec: { static: server } }, bounds: policiesBounds },
  {
    kind: "GatewayBackend",
    base: { spec: { mcp: { targets: [{ name: "t", static: server }] } } },
    bounds: mcpBackendBounds,
  },
  {
    kind: "GatewayBackend",
    base: { spec: { ai: { provider: { openai: {} } } } },
    bounds: aiBackendBounds.filter(([path]) => !path.startsWith("spec.ai.groups")),
  },
  {
    kind: "GatewayBackend",
    base: { spec: { ai: { groups: [group("a")] } } },
    bounds: aiBackendBounds.filter(([path]) => path.startsWith("spec.ai.groups")),
  },
  {
    kind: "GatewayPolicy",
    base: { spec: { targetRefs: [target] } },
    bounds: [...policyBounds, ...frontendBounds, ...trafficBounds, ...trafficRules],
  },
  { kind: "GatewayParameters", base: { spec: {} }, bounds: parametersBounds },
];

describe.each(tables)("$kind", ({ kind, base, bounds }) => {
  const spelled = bounds.map(([path, good, bad]) => ({ path, good, bad }));
  it.each(spelled)("$path takes the last good value and refuses the first bad one", (bound) => {
    const { path, good, bad } = bound;
    for (const [value, expected] of [
      [good, true],
      [bad, false],
    ] as const) {
      const document = withValue(
        { kind, metadata: { name: "a" }, ...base },
        path.split("."),
        value,
      );
      const { isGood: found, said } = isGood(kind, document);
      const shown = stringify(value).slice(0, 80);
      expect(found, `${path}: ${shown} ${said.join("; ")}`).toBe(expected);
    }
  });
});

/** A copy of a document with a value at a path; numbers are places in lists. */
function withValue(document: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (/^\d+$/.test(step)) return [withValue(at(document, 0), rest, value)];
  const object = typeof document === "object" && document !== null ? document : {};
  return { ...object, [step]: withValue(at(document, step), rest, value) };
}

function at(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
}
