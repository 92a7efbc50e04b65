import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { messagesOf, openSession, post } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

const backend = (name: string, url: string, target = "tools", own = "") => {
  const { hostname, port, pathname } = new URL(url);
  return `---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {${own}mcp: {targets: [
  {name: ${target}, static: {host: ${hostname}, port: ${port}, path: ${pathname}}}]}}}
`;
};

const service = (name: string, port: string) => `---
{apiVersion: v1, kind: Service, metadata: {name: ${name}}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ${name}, labels: {kubernetes.io/service-name: ${name}}},
  addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{port: ${port}}]}
`;

const route = (...references: readonly string[]) => `
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: tools}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [
  ${references.join(",\n  ")}]}]}}
`;

const mcp = (name: string, weight = 1) =>
  `{group: gwc.dev, kind: GatewayBackend, name: ${name}, weight: ${weight}}`;
const plain = (name: string, weight = 1) => `{name: ${name}, port: 80, weight: ${weight}}`;

/** A policy on a resource that says which tools there are. */
const rules = (kind: string, name: string, tool: string) => `---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: of-${name}}, spec: {
  targetRefs: [{group: ${kind === "GatewayBackend" ? "gwc.dev" : "gateway.networking.k8s.io"}, kind: ${kind}, name: ${name}}],
  backend: {mcp: {authorization: {action: Allow, policy: {matchExpressions: ['mcp.tool.name == "${tool}"']}}}}}}
`;

const lists = (name: string) =>
  mcpResponses({
    "tools/list": JSON.stringify({
      tools: ["a", "b", "c"].map((each) => ({
        name: each,
        description: name,
        inputSchema: { type: "object" },
      })),
    }),
  });

it("an HTTPRoute shares sessions between MCP backends, each with its own rules, and a Service", async () => {
  const servers = [lists("stable"), lists("canary"), lists("plain")].map(startUpstream);
  const [stable, canary, third] = await Promise.all(servers);
  const urls = [stable, canary, third].map((each) => each?.url ?? "");
  const gateway = await startGateway({
    config: [
      gatewayManifest(await freePort()),
      route(mcp("stable", 2), plain("web", 2), mcp("canary", 1)),
      backend("stable", urls[0] ?? "", "one"),
      backend("canary", urls[1] ?? "", "two"),
      service("web", new URL(urls[2] ?? "").port),
      rules("GatewayBackend", "stable", "a"),
      rules("GatewayBackend", "canary", "b"),
    ].join(""),
  });
  const seen = new Map<string, string>();
  for (let opened = 0; opened < 60; opened++) {
    const session = await openSession(gateway.url);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const message of [
      ...messagesOf(await post(gateway.url, list, session)),
      ...messagesOf(await post(gateway.url, list, session)),
    ]) {
      const { tools } = (message as { result: { tools: { name: string; description: string }[] } })
        .result;
      seen.set(tools[0]?.description ?? "", tools.map(({ name }) => name).join());
    }
  }
  expect(Object.fromEntries(seen)).toEqual({ stable: "a", canary: "b", plain: "a,b,c" });
});

const url = "http://mcp.test:8080/mcp";
const told = (...parts: readonly string[]) =>
  complaints(checkManifests([gatewayManifest(80), ...parts].join("")));

it("rules of the route that would not apply to a Service are reported at the reference to it", () => {
  const parts = [route(mcp("one"), plain("web")), backend("one", url), service("web", "80")];
  expect(told(...parts)).toEqual([]);
  for (const [kind, name] of [
    ["HTTPRoute", "tools"],
    ["Gateway", "gw"],
  ] as const) {
    expect(told(...parts, rules(kind, name, "a"))).toEqual([
      `10 not-for-all-backends: "authorization" would not apply to this backend, which gets a share of the route's requests: it only applies to MCP messages`,
    ]);
  }
  const zero = [route(mcp("one"), plain("web", 0)), ...parts.slice(1)];
  expect(told(...zero, rules("HTTPRoute", "tools", "a"))).toEqual([]);
});

it("rules of one backend apply only to it, whatever the order of references", () => {
  const parts = [backend("one", url), backend("two", url, "other"), service("web", "80")];
  const ruled = (...references: readonly string[]) => {
    const checked = checkManifests(
      [
        gatewayManifest(80),
        route(...references),
        ...parts,
        rules("GatewayBackend", "two", "a"),
      ].join(""),
    );
    const [served] = checked.program?.binds[0]?.listeners[0]?.routes ?? [];
    const [policy] = served?.policies ?? [];
    expect(complaints(checked)).toEqual([]);
    return policy?.kind === "mcpAuthorization"
      ? [policy.settings.rules.length, policy.settings.ofTargets.map(({ target }) => target)]
      : [];
  };
  expect(ruled(mcp("one"), mcp("two"))).toEqual([0, ["other"]]);
  expect(ruled(plain("web"), mcp("two"))).toEqual([1, []]);
  expect(ruled(mcp("two", 0), mcp("one"), plain("web"))).toEqual([]);
});

it("targets of one name with different rules can't be told apart, which is said", () => {
  const parts = [route(mcp("one"), mcp("two")), backend("one", url), backend("two", url)];
  expect(told(...parts)).toEqual([]);
  expect(told(...parts, rules("HTTPRoute", "tools", "a"))).toEqual([]);
  expect(told(...parts, rules("GatewayBackend", "two", "a"))).toEqual([
    '10 backends-differ: "authorization" of the target "tools" differs from that of another target with this name in the same rule',
  ]);
});

it("tokens that only one backend of a rule asks for are a mistake", () => {
  const own =
    "policies: {mcp: {authentication: {issuer: 'https://issuer.test', jwks: {jwksPath: /keys, backendRef: {name: web, port: 80}}}}}, ";
  const parts = [backend("one", url, "tools", own), backend("two", url), service("web", "80")];
  expect(told(route(mcp("one"), mcp("two")), ...parts)).toEqual([
    '10 backends-differ: "authentication" of this backend differs from that of the other backends in its rule',
  ]);
});
