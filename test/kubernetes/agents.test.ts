import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { gatewayManifest } from "./gateway-manifest.ts";

const agentBackend = (port: string) =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: agent}, spec: {a2a: {host: 127.0.0.1, port: ${port}}}}`;

const agentService = (
  port: string,
  protocol: string,
) => `{apiVersion: v1, kind: Service, metadata: {name: agent}, spec: {ports: [{port: 80, appProtocol: ${protocol}}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: agent, labels: {kubernetes.io/service-name: agent}},
  addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{port: ${port}}]}`;

/** Returns the address in the agent's card as clients see it. */
async function addressInCard(
  manifests: (port: string) => string,
  reference: string,
): Promise<unknown> {
  const upstream = await startUpstream((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name: "helper", url: `http://${request.headers.host}:1/` }));
  });
  const gateway = await startGateway({
    config: [
      gatewayManifest(await freePort()),
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: agents}, spec: {
        parentRefs: [{name: gw}], rules: [{backendRefs: [${reference}]}]}}`,
      manifests(new URL(upstream).port),
    ].join("\n---\n"),
  });
  const headers = { host: "agents.example.com" };
  const { body } = await send(`${gateway.url}/.well-known/agent-card.json`, "GET", headers);
  return JSON.parse(body).url;
}

const service = "{name: agent, port: 80}";

it("a GatewayBackend of an agent serves its card with the gateway's address", async () => {
  const reference = "{group: gwc.dev, kind: GatewayBackend, name: agent}";
  expect(await addressInCard(agentBackend, reference)).toBe("http://agents.example.com");
});

it.each(["gwc.dev/a2a", "agentgateway.dev/a2a"])(
  "a Service with the appProtocol %s serves its card with the gateway's address",
  async (protocol) => {
    const manifests = (port: string) => agentService(port, protocol);
    expect(await addressInCard(manifests, service)).toBe("http://agents.example.com");
  },
);

it("a Service of another protocol serves its card unchanged", async () => {
  const manifests = (port: string) => agentService(port, "http");
  expect(await addressInCard(manifests, service)).toBe("http://agents.example.com:1/");
});
