import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startCollector } from "../harness/otlp-collector.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "./manifests.ts";

const backend = (name: string, host: string): string => {
  const { hostname, port } = new URL(host);
  return `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {
    static: {host: ${hostname}, port: ${port}}}}`;
};

const gateway = (parameters = ""): string => `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: traced}, spec: {
  gatewayClassName: gwc,
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}},
  listeners: [{name: web, port: 8081, protocol: HTTP}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: own}, spec: {${parameters}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: shop}, spec: {
  parentRefs: [{name: traced}],
  rules: [{matches: [{path: {value: /shop}}],
    backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]}}
`;

const policy = (tracing: string): string => `
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: traced}, spec: {
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: traced}],
  frontend: {tracing: {
    backendRef: {group: gwc.dev, kind: GatewayBackend, name: collector}, ${tracing}}}}}
`;

it("a GatewayPolicy traces the requests of its Gateway, by HTTP unless it says otherwise", async () => {
  const collector = await startCollector();
  const upstream = await startUpstream((_, response) => response.end());
  const running = await startGateway({
    config: [
      gateway(),
      backend("shop", upstream),
      backend("collector", `http://${collector.host}`),
      policy(
        `randomSampling: "1.0", resources: [{name: region, expression: "'here'"}],
         attributes: {remove: [http.host], add: [{name: twice, expression: response.code * 2}]}`,
      ),
    ].join("\n---\n"),
  });
  await fetch(`${running.url}/shop/1`);
  expect(await running.stop()).toBe(0);
  const server = collector.spans.find(({ kind }) => kind === "SPAN_KIND_SERVER");
  expect(server).toMatchObject({ name: "GET /shop/*", resource: { region: "here" } });
  expect(server?.attributes).toMatchObject({ twice: 400, "http.route": "/shop/*" });
  expect(server?.attributes).not.toHaveProperty(["server.address"]);
});

it("it overrides the raw configuration, and its server must exist", () => {
  const raw =
    "rawConfig: {config: {tracing: {otlpEndpoint: 'raw:4318', otlpProtocol: http, randomSampling: 0.5}}}";
  const documents = [gateway(raw), backend("shop", "http://10.0.0.1:8080")];
  const collector = backend("collector", "http://10.0.0.2:4318");
  const tracingOf = (...more: readonly string[]) => {
    const checked = checkManifests([...documents, ...more].join("\n---\n"));
    const { program } = checked;
    if (program === undefined) throw new Error(complaints(checked).join("\n"));
    const { collector } = program.tracing ?? {};
    return collector && ("kind" in collector ? collector.url : collector.destination.url);
  };
  expect(tracingOf()).toBe("http://raw:4318");
  expect(tracingOf(collector, policy("clientSampling: 'true'"))).toBe("http://10.0.0.2:4318");
  const missing = checkManifests([...documents, policy("clientSampling: 'true'")].join("\n---\n"));
  expect(complaints(missing).join()).toContain("missing-reference");
});
