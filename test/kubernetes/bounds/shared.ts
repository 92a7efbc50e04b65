import {
  type Bound,
  cel,
  chars,
  items,
  keys,
  list,
  longText,
  map,
  needs,
  number,
  oneOf,
  service,
  shortText,
  someOf,
  span,
  text,
  tinyText,
  word,
} from "./words.ts";

/** Every field that ends in a connection to a backend. */
export function simpleBounds(at: string): readonly Bound[] {
  const tls = `${at}.tls`;
  return [
    ...number(`${at}.tcp.keepalive.retries`, 1, 64),
    ...span(`${at}.tcp.keepalive.time`),
    ...span(`${at}.tcp.keepalive.interval`),
    [`${at}.tcp.keepalive.time`, "1s", "999ms"] as const,
    [`${at}.tcp.keepalive.interval`, "1s", "999ms"] as const,
    ...span(`${at}.tcp.connectTimeout`),
    [`${at}.tcp.connectTimeout`, "100ms", "99ms"] as const,
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
    [`${at}.http.requestTimeout`, "1ms", "0ms"] as const,
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

export function authorizationBounds(at: string): readonly Bound[] {
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

export function jwksBounds(at: string): readonly Bound[] {
  const with_ = (field: string, value: unknown) => ({ ...keys, [field]: value });
  return [
    ...needs(at, keys, "jwksPath", "backendRef"),
    [at, { url: "https://a.test/k" }, { url: "https://a.test/k", jwksPath: "/k" }],
    [at, { url: "https://a.test/k" }, { url: "https://user@a.test/k" }],
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

export function aiBounds(at: string): readonly Bound[] {
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
    ...number(`${at}.promptCaching.cacheMessageOffset`, 0, 100_000),
    [`${at}.promptCaching.cacheSystem`, true, "yes"],
    [`${at}.promptCaching.cacheMessages`, false, 1],
    [`${at}.promptCaching.cacheTools`, true, "no"],
    [`${at}.promptCaching.affinity`, "prefix", "random"],
    ...needs(`${at}.cache`, { ttl: "1m" }, "ttl"),
    [`${at}.cache.ttl`, "1s", "999ms"],
    [`${at}.cache`, { ttl: "1m", maxBytes: 1_048_576 }, { ttl: "1m", maxBytes: 1_048_575 }],
    [`${at}.unsupported`, "drop", "keep"],
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

export const mcpAuthentication = { issuer: "a", jwks: keys };

const front = { url: "https://a.test/oauth", redirectURIs: ["https://a.test/a"] };

function frontBounds(place: string): readonly Bound[] {
  const whole = (server: object) => ({
    ...mcpAuthentication,
    clientId: "a",
    authorizationServer: server,
  });
  const bound = (good: object, bad: object): Bound => [
    place,
    whole({ ...front, ...good }),
    whole({ ...front, ...bad }),
  ];
  const { url, redirectURIs } = front;
  return [
    [place, whole(front), { ...mcpAuthentication, authorizationServer: front }],
    [place, whole(front), whole({ url })],
    [place, whole(front), whole({ redirectURIs })],
    bound({ url: "https://a.test/a" }, { url: "https://a.test/" }),
    bound({ redirectURIs: items(64, "a") }, { redirectURIs: items(65, "a") }),
    bound({ redirectURIs: ["a"] }, { redirectURIs: [] }),
    bound({ clientNames: items(64, "a") }, { clientNames: items(65, "a") }),
    bound({ clientNames: [chars(100)] }, { clientNames: [chars(101)] }),
    bound({ clientDocuments: items(64, "a") }, { clientDocuments: items(65, "a") }),
    bound({ scopes: items(64, "a") }, { scopes: items(65, "a") }),
    bound({ registrationsPerHour: 0 }, { registrationsPerHour: -1 }),
    bound({ registrationLifetime: "1m" }, { registrationLifetime: "59s" }),
  ];
}

export function mcpBounds(at: string): readonly Bound[] {
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
    ...frontBounds(place),
    [place, whole({ issuer: chars(256) }), whole({ issuer: chars(257) })],
    [place, whole({ audiences: items(64, "a") }), whole({ audiences: items(65, "a") })],
    [place, whole({ audiences: ["a"] }), whole({ audiences: [] })],
    ...["Strict", "Optional", "Permissive"].map(
      (mode): Bound => [place, whole({ mode }), whole({ mode: mode.toLowerCase() })],
    ),
  ];
}

export const backendSections = { tcp: {}, tls: {}, http: {}, auth: { passthrough: {} } };
