import {
  aiBounds,
  authorizationBounds,
  backendSections,
  mcpAuthentication,
  mcpBounds,
  simpleBounds,
} from "./shared.ts";
import {
  type Bound,
  cel,
  chars,
  entries,
  http,
  items,
  keys,
  list,
  needs,
  number,
  oneOf,
  service,
  shortText,
  someOf,
  span,
  text,
  word,
} from "./words.ts";

export const traffic = "spec.traffic";
export const transform = `${traffic}.transformation.request`;
export const entry = { name: "a", expression: "1" };
export const descriptor = { entries: [entry] };
export const globalLimit = { backendRef: service, domain: "a", descriptors: [descriptor] };
export const limit = (more: object) => ({ ...globalLimit, ...more });
export const auth = (more: object) => ({ backendRef: service, ...more });
export const jwtProvider = { issuer: "a", jwks: { inline: "{}" } };
export const trafficBounds: readonly Bound[] = [
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
  ...oneOf(`${traffic}.rateLimit.local.0`, { requests: 1, tokens: 1, budget: 1 }).map(
    ([path, good, bad]): Bound => [
      path,
      { unit: "Minutes", ...(good as object) },
      { unit: "Minutes", ...(bad as object) },
    ],
  ),
  ...["requests", "tokens", "budget"].map(
    (field): Bound => [
      `${traffic}.rateLimit.local.0`,
      { unit: "Hours", [field]: 1 },
      { unit: "Hours", [field]: 0 },
    ],
  ),
  [`${traffic}.rateLimit.local.0`, { requests: 1, unit: "Seconds" }, { requests: 1 }],
  [`${traffic}.rateLimit.local.0`, { requests: 1, unit: "Months" }, { requests: 1, unit: "Years" }],
  [
    `${traffic}.rateLimit.local.0`,
    { budget: 1, unit: "Days", cost: "1.0" },
    { tokens: 1, unit: "Days", cost: "1.0" },
  ],
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

export const trafficRules: readonly Bound[] = [
  ...someOf("spec.backend", {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
    ai: { routes: {} },
  }),
  ...simpleBounds("spec.backend"),
  ...mcpBounds("spec.backend"),
  ...aiBounds("spec.backend.ai"),
];
