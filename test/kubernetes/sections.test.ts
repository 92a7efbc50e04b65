import { expect, it } from "vitest";
import { checkManifests, complaints } from "./manifests.ts";

/** Returns the messages about manifests with a Gateway. */
function said(...documents: readonly string[]): readonly string[] {
  return complaints(checkManifests([gateway, ...documents].join("\n---\n"))).map((line) =>
    line.replace(/^\d+ /, ""),
  );
}

const gateway =
  "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 8080, protocol: HTTP}]}}";
const route = (name: string, path: string, rest: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: g}], rules: [{matches: [{path: {value: ${path}}}], ${rest}}]}}`;
const to = (name: string): string =>
  `backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${name}}]`;
const backend = (name: string, spec: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {${spec}}}`;
const policy = (kind: string, name: string, rest: string): string => {
  const group = kind === "GatewayBackend" ? "gwc.dev" : "gateway.networking.k8s.io";
  return `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: ${group}, kind: ${kind}, name: ${name}}], ${rest}}}`;
};
const plain = [route("r", "/r", to("s")), backend("s", "static: {host: s, port: 80}")];
const mcp = [
  route("m", "/m", to("t")),
  backend("t", "mcp: {targets: [{name: t, static: {host: t, port: 80}}]}"),
];
const redirect = route(
  "away",
  "/away",
  "filters: [{type: RequestRedirect, requestRedirect: {hostname: b.test}}]",
);
const mcpRules = "mcp: {authorization: {policy: {matchExpressions: ['true']}}}";
const misplacedRules =
  'misplaced-field: "mcp.authorization" applies to MCP messages, and there are only plain HTTP requests here';

it("rules about MCP on a static backend are a mistake", () => {
  const wrong = backend("s", `static: {host: s, port: 80}, policies: {${mcpRules}}`);
  expect(said(route("r", "/r", to("s")), wrong)).toEqual([misplacedRules]);
});

it("they are one on a backend that no route uses, too", () => {
  const wrong = backend("u", `static: {host: s, port: 80}, policies: {${mcpRules}}`);
  expect(said(...plain, wrong)).toEqual([misplacedRules]);
  const unused = backend("u", "static: {host: s, port: 80}");
  const targeted = policy("GatewayBackend", "u", `backend: {${mcpRules}}`);
  expect(said(...plain, unused, targeted)).toEqual([misplacedRules]);
});

it("a policy of a route that calls no backend can't say how one is reached", () => {
  const connection = policy("HTTPRoute", "away", "backend: {tcp: {connectTimeout: 1s}}");
  expect(said(redirect, connection)).toEqual([
    'misplaced-field: "tcp.connectTimeout" applies to connections to backends, but this place has none',
  ]);
});

it("a policy of a Gateway may act on only some of its routes", () => {
  const traffic = "traffic: {timeouts: {request: 1s}, retry: {attempts: 1}}";
  const ofGateway = policy("Gateway", "g", `${traffic}, backend: {${mcpRules}}`);
  expect(said(...plain, ...mcp, redirect, ofGateway)).toEqual([]);
});

it("a policy that acts on no route is reported once, at its place", () => {
  const traffic = "traffic: {cors: {allowOrigins: ['*']}, retry: {attempts: 1}}";
  const ofGateway = policy("Gateway", "g", traffic);
  const other = redirect.replaceAll("away", "off");
  expect(said(redirect, other, ofGateway)).toEqual([
    'policy-without-effect: "retry" of GatewayPolicy "default/p" has no effect on anything that is served',
  ]);
});

it("a field that every route overrides is reported, too", () => {
  const ofGateway = policy(
    "Gateway",
    "g",
    "traffic: {retry: {attempts: 1}, timeouts: {request: 1s}}",
  );
  const own = route("r", "/r", `timeouts: {request: 2s}, ${to("s")}`);
  expect(said(own, ...plain.slice(1), ofGateway)).toEqual([
    'policy-without-effect: "timeouts" of GatewayPolicy "default/p" has no effect on anything that is served',
  ]);
});

it("TLS with clients needs a listener that ends TLS, and its versions a handshake", () => {
  const tls = "frontend: {tls: {minProtocolVersion: '1.3', maxProtocolVersion: '1.2'}}";
  expect(said(...plain, policy("Gateway", "g", tls))).toEqual([
    'policy-without-effect: GatewayPolicy "default/p" has no effect on anything that is served',
    "tls-versions: the lowest TLS version (TLSv1.3) is above the highest (TLSv1.2)",
  ]);
});

it("CA certificates without verification are a mistake", () => {
  const tls = "tls: {insecureSkipVerify: All, caCertificateRefs: [{name: ca}]}";
  const wrong = backend("s", `static: {host: s, port: 80}, policies: {${tls}}`);
  expect(said(route("r", "/r", to("s")), wrong)).toEqual([
    'broken-rule: "caCertificateRefs" has no effect with "insecureSkipVerify: All"',
  ]);
});

it("what no route uses is read all the same", () => {
  const spare = backend(
    "u",
    "mcp: {targets: [{name: t, static: {host: t, port: 80}}]}, policies: {auth: {secretRef: {name: none}}, mcp: {authorization: {policy: {matchExpressions: ['mcp.tool.name = \"x\"']}}}}",
  );
  expect(said(...plain, spare)).toEqual([
    'missing-secret: there is no Secret "default/none"',
    "cel-syntax: the expression is not valid CEL: CEL has no `=`",
  ]);
});

it("so is what a policy says of a backend that no route uses", () => {
  const unused = backend("u", "static: {host: s, port: 80}");
  const tls = "backend: {tls: {caCertificateRefs: [{name: none}]}}";
  expect(said(...plain, unused, policy("GatewayBackend", "u", tls))).toEqual([
    'missing-reference: there is no ConfigMap "default/none"',
    'policy-without-effect: GatewayPolicy "default/p" has no effect on anything that is served',
  ]);
});

it("so is what another policy overrides everywhere", () => {
  const rule = (text: string): string =>
    `backend: {mcp: {authorization: {policy: {matchExpressions: ['${text}']}}}}`;
  const outer = policy("Gateway", "g", rule("mcp.tool.nam == 1")).replace("name: p", "name: outer");
  const inner = policy("GatewayBackend", "t", rule("true"));
  expect(said(...mcp, outer, inner)).toContainEqual(expect.stringMatching(/^cel-\S+: .*\bnam\b/));
});

it("a mistake in a shared object is reported once", () => {
  const wrong = backend(
    "s",
    "static: {host: s, port: 80}, policies: {auth: {secretRef: {name: none}}}",
  );
  expect(said(route("r", "/r", to("s")), wrong)).toEqual([
    'missing-secret: there is no Secret "default/none"',
  ]);
});

it("so are parameters that no Gateway has", () => {
  const parameters =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: u}, spec: {logging: {level: loud}, mesh: {network: a}}}";
  expect(said(...plain, parameters)).toEqual([
    expect.stringMatching(/^not-built-yet: "network"/),
    'log-level: "loud" is not a log level',
  ]);
});

it("a ListenerSet that names another kind than a Gateway belongs to none", () => {
  const set =
    "{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: l}, spec: {parentRef: {group: a.test, kind: Other, name: g}, listeners: [{name: b, port: 8081, protocol: HTTP}]}}";
  expect(said(...plain, set)).toEqual([
    "wrong-reference-kind: a reference to a a.test/Other is not allowed here",
  ]);
});

it("a selector of API keys that selects no Secret is reported", () => {
  const keys = "traffic: {apiKeyAuthentication: {secretSelector: {matchLabels: {team: a}}}}";
  expect(said(...plain, policy("HTTPRoute", "r", keys))).toEqual([
    "selector-without-match: no Secret of the namespace has these labels",
  ]);
});

it("a token limit may apply to routes of which some use models", () => {
  const models = [
    route("l", "/l", to("l")),
    backend("l", "ai: {provider: {openai: {}}}, policies: {auth: {passthrough: {}}}"),
  ];
  const limits = "traffic: {rateLimit: {local: [{tokens: 5, unit: Minutes}]}}";
  const ofGateway = policy("Gateway", "g", limits);
  expect(said(...models, ...mcp, ...plain, ofGateway)).toEqual([]);
  expect(said(...mcp, ...plain, ofGateway)).toEqual([
    'misplaced-field: "tokens" applies to requests to models whose tokens are counted, but this place has none',
  ]);
  // Whether a backend with a mistake would use any is not known.
  const wrong = [models[0] ?? "", backend("l", "ai: {provider: {openai: {}}, groups: []}")];
  expect(said(...wrong, ...mcp, ofGateway).join()).not.toContain("misplaced-field");
});
