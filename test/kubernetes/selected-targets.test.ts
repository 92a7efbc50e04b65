import { expect, it } from "vitest";
import { checkManifests, complaints } from "./manifests.ts";

const service = (name: string, namespace: string, rest: string): string =>
  `{apiVersion: v1, kind: Service, metadata: {name: ${name}, namespace: ${namespace}, labels: {kind: tools}}, spec: {${rest}}}`;
const namespace = (name: string, labels: string): string =>
  `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, labels: {${labels}}}}`;

const world = [
  "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 80, protocol: HTTP}]}}",
  "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}]}]}}",
  namespace("one", "open: yes-1"),
  namespace("two", "open: yes-1"),
  namespace("three", "open: no-1"),
  service("s", "one", "ports: [{port: 80}]"),
  service(
    "s",
    "two",
    "ports: [{name: web, port: 80}, {name: mcp, port: 81, appProtocol: gwc.dev/mcp-sse}]",
  ),
  service("s", "three", "ports: [{port: 80}]"),
  service("near", "default", "ports: [{port: 8080}]"),
];

/** The targets `NAME URL` of a backend with these targets, and what is said about the documents. */
function targetsOf(targets: string, ...more: readonly string[]) {
  const backend = `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {mcp: {targets: [${targets}]}}}`;
  const checked = checkManifests([...world, backend, ...more].join("\n---\n"));
  const [route] = checked.program?.binds[0]?.listeners[0]?.routes ?? [];
  const [node] = route?.backends ?? [];
  const found = node?.kind === "mcp" ? node.targets : [];
  return {
    said: complaints(checked),
    targets: found.map((each) => (each.kind === "stdio" ? "" : `${each.name} ${each.url}`)),
    policies: route?.policies.map(({ kind }) => kind),
    connections: found.map((each) => (each.kind === "stdio" ? undefined : each.connection)),
  };
}

it("without a selector of namespaces only the backend's own is searched", () => {
  const { targets, said } = targetsOf(
    "{name: t, selector: {services: {matchLabels: {kind: tools}}}}",
  );
  expect(said).toEqual([]);
  expect(targets).toEqual(["t http://near.default.svc.cluster.local:8080/mcp"]);
});

it("namespaces are selected by their labels, ports by what they say of themselves", () => {
  const { targets, said } = targetsOf(
    "{name: t, selector: {namespaces: {matchExpressions: [{key: open, operator: In, values: [yes-1]}]}, services: {matchLabels: {kind: tools}}}}",
  );
  expect(said).toEqual([]);
  expect(targets).toEqual([
    "t-one-s-80 http://s.one.svc.cluster.local:80/mcp",
    "t-two-s-81 http://s.two.svc.cluster.local:81/sse",
  ]);
});

it("every namespace has its name as a label", () => {
  const { targets } = targetsOf(
    "{name: t, selector: {namespaces: {matchLabels: {kubernetes.io/metadata.name: three}}}}",
  );
  expect(targets).toEqual(["t http://s.three.svc.cluster.local:80/mcp"]);
});

it("what policies say of a selected Service holds for its target only", () => {
  const { targets, connections, said } = targetsOf(
    "{name: t, selector: {namespaces: {matchLabels: {open: yes-1}}}}",
    '{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, metadata: {name: p, namespace: one}, spec: {targetRefs: [{group: "", kind: Service, name: s}], validation: {hostname: one.test, wellKnownCACertificates: System}}}',
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: q}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}], backend: {tcp: {connectTimeout: 3s}}}}",
  );
  expect(said).toEqual([]);
  expect(targets[0]).toBe("t-one-s-80 https://s.one.svc.cluster.local:80/mcp");
  expect(targets[1]).toBe("t-two-s-81 http://s.two.svc.cluster.local:81/sse");
  expect(connections).toMatchObject([
    { connectTimeout: 3000, tls: { serverName: "one.test" } },
    { connectTimeout: 3000 },
  ]);
  expect(connections[1]).not.toHaveProperty("tls");
});

it("a target's own policies are merged over the backend's, and those over what targets them", () => {
  const policy = (name: string, section: string, backend: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools${section}}], backend: {${backend}}}}`;
  const server = "host: a, port: 80";
  const { connections, said } = targetsOf(
    `{name: one, static: {${server}, policies: {tcp: {connectTimeout: 1s}}}}, {name: two, static: {${server}}}`,
    policy("all", "", "tcp: {connectTimeout: 5s, keepalive: {time: 9s}}, tls: {sni: all.test}"),
    policy("two", ", sectionName: two", "tls: {sni: two.test}, auth: {passthrough: {}}"),
  );
  expect(said).toEqual([]);
  expect(connections).toMatchObject([
    { connectTimeout: 1000, keepAlive: { time: 9000 }, tls: { serverName: "all.test" } },
    { connectTimeout: 5000, tls: { serverName: "two.test" }, isPassthrough: true },
  ]);
});

it("who checks tokens for the only server checks them for its route; one of several can't", () => {
  const authentication =
    "policies: {mcp: {authentication: {issuer: https://i.test, jwks: {jwksPath: /keys, backendRef: {name: near, port: 8080}}}}}";
  const checked = `{name: one, static: {host: a, port: 80, ${authentication}}}`;
  const alone = targetsOf(checked);
  expect(alone.said).toEqual([]);
  expect(alone.policies).toEqual(["mcpAuthentication"]);
  expect(targetsOf(`${checked}, {name: two, static: {host: b, port: 80}}`).said).toEqual([
    '19 not-built-yet: "authentication" is not supported yet: this version of gwc cannot enforce authentication of one target',
  ]);
});

it("a target may name a Service of its backend's namespace", () => {
  const { targets, said } = targetsOf("{name: t, static: {backendRef: {name: near}, port: 8080}}");
  expect(said).toEqual([]);
  expect(targets).toEqual(["t http://near.default.svc.cluster.local:8080/mcp"]);
});

it("a target with a Service that does not exist is a mistake", () => {
  const { said } = targetsOf("{name: t, static: {backendRef: {name: far}, port: 8080}}");
  expect(said.join("\n")).toContain('Service "default/far"');
});

it("a target with a port that its Service does not have is a mistake", () => {
  const { said } = targetsOf("{name: t, static: {backendRef: {name: near}, port: 8081}}");
  expect(said.join("\n")).toContain("8081");
});
