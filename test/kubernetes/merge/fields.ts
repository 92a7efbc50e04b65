/** A field that the merge replaces as a whole, with two values of it. */
export interface FieldCase {
  readonly path: string;
  readonly values: readonly [unknown, unknown];
  /** Both hold. */
  readonly isJoined?: boolean;
}

const service = { name: "web", port: 80 };
const keys = { jwksPath: "/keys", backendRef: service };
const rule = (expression: string) => ({ policy: { matchExpressions: [expression] } });
const header = (name: string) => ({ request: { set: [{ name, value: "1" }] } });
const transformation = (name: string) => ({ request: { set: [{ name, value: "'1'" }] } });

/** Every field of `traffic` that the specification names. */
export const trafficFields: readonly FieldCase[] = [
  { path: "traffic.transformation", values: [transformation("a"), transformation("b")] },
  {
    path: "traffic.extProc",
    values: [{ backendRef: service }, { backendRef: { ...service, namespace: "default" } }],
  },
  {
    path: "traffic.extAuth",
    values: [
      { backendRef: service, http: {} },
      { backendRef: service, grpc: {} },
    ],
  },
  {
    path: "traffic.rateLimit",
    values: [
      { local: [{ requests: 1, unit: "Seconds" }] },
      { local: [{ requests: 2, unit: "Seconds" }] },
    ],
  },
  { path: "traffic.cors", values: [{ allowOrigins: ["*"] }, { allowMethods: ["GET"] }] },
  {
    path: "traffic.csrf",
    values: [{ additionalOrigins: ["https://a"] }, { additionalOrigins: ["https://b"] }],
  },
  { path: "traffic.headerModifiers", values: [header("a"), header("b")] },
  { path: "traffic.hostRewrite", values: [{ mode: "Auto" }, { mode: "None" }] },
  { path: "traffic.timeouts", values: [{ request: "1s" }, { request: "2s" }] },
  { path: "traffic.retry", values: [{ attempts: 1 }, { codes: [503] }] },
  {
    path: "traffic.authorization",
    values: [rule("request.method == 'GET'"), rule("request.method == 'PUT'")],
    isJoined: true,
  },
  {
    path: "traffic.jwtAuthentication",
    values: [
      { providers: [{ issuer: "a", jwks: { remote: keys } }] },
      { providers: [{ issuer: "b", jwks: { remote: keys } }] },
    ],
  },
  {
    path: "traffic.basicAuthentication",
    values: [
      { users: ["a:b"], location: { header: { name: "x-login" } } },
      { users: ["c:d"], location: { header: { name: "x-login" } } },
    ],
  },
  {
    path: "traffic.apiKeyAuthentication",
    values: [
      { secretSelector: { matchLabels: { a: "b" } }, location: { header: { name: "x-key" } } },
      { secretSelector: { matchLabels: { c: "d" } }, location: { header: { name: "x-key" } } },
    ],
  },
  { path: "traffic.directResponse", values: [{ status: 200 }, { status: 404 }] },
];

/** Every field of `backend` that the specification names, as the merge divides them. */
export const backendFields: readonly FieldCase[] = [
  { path: "backend.tcp.keepalive", values: [{ retries: 1 }, { time: "1s" }] },
  { path: "backend.tcp.connectTimeout", values: ["1s", "2s"] },
  { path: "backend.tls", values: [{ sni: "a" }, { insecureSkipVerify: "All" }] },
  { path: "backend.http.version", values: ["HTTP1", "HTTP2"] },
  { path: "backend.http.requestTimeout", values: ["1s", "2s"] },
  { path: "backend.auth", values: [{ secretRef: { name: "a" } }, { passthrough: {} }] },
  {
    path: "backend.mcp.authorization",
    values: [rule("mcp.tool.name == 'a'"), rule("mcp.tool.name == 'b'")],
  },
  {
    path: "backend.mcp.authentication",
    values: [
      { issuer: "https://a.example.com", jwks: keys },
      { issuer: "https://b.example.com", jwks: keys },
    ],
  },
  {
    path: "backend.ai.prompt",
    values: [
      { prepend: [{ role: "SYSTEM", content: "a" }] },
      { append: [{ role: "SYSTEM", content: "b" }] },
    ],
  },
  {
    path: "backend.ai.promptGuard",
    values: [
      { request: [{ regex: { builtins: ["Ssn"] } }] },
      { response: [{ regex: { builtins: ["Email"] } }] },
    ],
  },
  {
    path: "backend.ai.defaults",
    values: [[{ field: "a", value: 1 }], [{ field: "b", value: 2 }]],
  },
  {
    path: "backend.ai.overrides",
    values: [[{ field: "a", value: 1 }], [{ field: "b", value: 2 }]],
  },
  { path: "backend.ai.modelAliases", values: [{ a: "b" }, { c: "d" }] },
  { path: "backend.ai.promptCaching", values: [{ minTokens: 1 }, { cacheTools: true }] },
  { path: "backend.ai.cache", values: [{ ttl: "1m" }, { ttl: "2m", key: "apiKey.team" }] },
  { path: "backend.ai.unsupported", values: ["drop", "reject"] },
  { path: "backend.ai.routes", values: [{ "/a": "Messages" }, { "/b": "Models" }] },
];
