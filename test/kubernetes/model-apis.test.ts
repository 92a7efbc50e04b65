import OpenAI from "openai";
import { expect, it } from "vitest";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { AUDIO, startMedia } from "../llm/media-upstream.ts";
import { checkManifests } from "./manifests.ts";

/** A Gateway for models on a port. */
function gatewayOf(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  listeners:
  - {name: llm, port: ${port}, protocol: HTTP, allowedRoutes: {kinds: [{group: gwc.dev, kind: GatewayModel}]}}
---
`;
}

function model(name: string, spec: string): string {
  return `
apiVersion: gwc.dev/v1alpha1
kind: GatewayModel
metadata: {name: ${name}}
spec:
  parentRefs: [{name: gw, sectionName: llm}]
${spec}
---
`;
}

it("a model serves the APIs that it names, and no others", async () => {
  const { host } = await startMedia();
  const [address, port] = host.split(":");
  const server = `
apiVersion: v1
kind: Service
metadata: {name: media}
spec: {clusterIP: None, ports: [{port: 8000}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: media-1, labels: {kubernetes.io/service-name: media}}
addressType: IPv4
ports: [{port: ${port}}]
endpoints: [{addresses: ["${address}"]}]
---
`;
  const custom = `  provider: Custom
  custom: {formats: [{type: Speech}, {type: Images}], backendRef: {name: media, port: 8000}}`;
  const { url } = await startGateway({
    config: [
      gatewayOf(await freePort()),
      server,
      model("voice", `${custom}\n  apis: [audio]`),
      model("pictures", `${custom}\n  apis: [images]`),
    ].join(""),
  });
  const client = new OpenAI({ apiKey: "provider-key", baseURL: `${url}/v1`, maxRetries: 0 });
  const speak = (name: string) =>
    client.audio.speech.create({ model: name, input: "Hello", voice: "alloy" });
  const said = await speak("voice");
  expect(Buffer.from(await said.arrayBuffer())).toEqual(AUDIO);
  await expect(speak("pictures")).rejects.toMatchObject({ status: 400 });
  const { data } = await client.images.generate({ model: "pictures", prompt: "A cat" });
  expect(data).toHaveLength(1);
});

it("an API that the provider of a model does not have is reported at the model", () => {
  const { diagnostics } = checkManifests(
    gatewayOf(8080) + model("m", "  provider: OpenAI\n  apis: [audio, rerank]"),
  );
  expect(diagnostics.map(({ code, params }) => messageOf(code).text(params as never))).toEqual([
    'the provider of the model "m" does not have the API "rerank"',
  ]);
});

it("a virtual model has no APIs of its own", () => {
  const virtual = `  apis: [audio]
  virtualModel: {failover: {targets: [{modelRef: {name: m}}]}}`;
  const { diagnostics } = checkManifests(gatewayOf(8080) + model("v", virtual));
  expect(
    diagnostics.map(({ code, params }) => messageOf(code).text(params as never)).join("\n"),
  ).toContain('"apis" requires "provider"');
});
