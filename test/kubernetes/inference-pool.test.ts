import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { checkManifests, complaints } from "./manifests.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));
const header = "x-gateway-destination-endpoint";

let picker: EnvoyServices;
let gateway: Gateway;
let port: number;

beforeAll(async () => {
  port = await freePort();
  for (const address of ["127.0.0.2", "127.0.0.3"]) {
    const model = createServer((_request, response) => response.end(address));
    model.listen(port, address);
    atEnd(() => model.close());
  }
  const fast = createHttp2Server((_request, response) => response.end("HTTP/2"));
  fast.listen(port, "127.0.0.4");
  atEnd(() => fast.close());
  picker = await startEnvoyServices();
  gateway = await startGateway({
    config: manifests(
      [
        pool(
          "current",
          "v1",
          `{selector: {matchLabels: {app: models}}, targetPorts: [{number: ${port}}],
        endpointPickerRef: {name: picker, port: {number: 9002}}}`,
        ),
        pool(
          "alpha",
          "v1alpha2",
          `{selector: {app: models}, targetPortNumber: ${port},
        extensionRef: {name: picker, failureMode: FailOpen}}`,
        ),
        pool(
          "fast",
          "v1",
          `{selector: {matchLabels: {app: fast}}, targetPorts: [{number: ${port}}],
        appProtocol: kubernetes.io/h2c, endpointPickerRef: {name: picker, port: {number: 9002}}}`,
        ),
      ],
      await freePort(),
    ),
    env: {
      NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${names}`,
      GWC_TEST_NAMES: JSON.stringify({
        "pods.default.svc.cluster.local": [["127.0.0.2", "127.0.0.3"]],
        "fast.default.svc.cluster.local": [["127.0.0.4"]],
      }),
    },
  });
});

/** An InferencePool and a rule of the path `/NAME` that leads there. */
function pool(
  name: string,
  version: "v1" | "v1alpha2",
  spec: string,
): { rule: string; document: string } {
  const group = `inference.networking.${version === "v1" ? "" : "x-"}k8s.io`;
  return {
    rule: `{matches: [{path: {value: /${name}}}], backendRefs: [{group: ${group}, kind: InferencePool, name: ${name}}]}`,
    document: `{apiVersion: ${group}/${version}, kind: InferencePool, metadata: {name: ${name}, labels: {limited: "${name === "fast" || name === "own" ? "yes" : "no"}"}}, spec: ${spec}}`,
  };
}

/** A Gateway, the pools and their routes, and the Services of their pods and of their picker. */
function manifests(pools: readonly ReturnType<typeof pool>[], listened = 8081): string {
  return `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {
  gatewayClassName: gwc, listeners: [{name: web, port: ${listened}, protocol: HTTP}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: models}, spec: {
  parentRefs: [{name: gw}], rules: [${pools.map(({ rule }) => rule).join(", ")}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: pods}, spec: {
  clusterIP: None, selector: {app: models}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: fast}, spec: {
  clusterIP: None, selector: {app: fast}, ports: [{port: 80}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: pools}, spec: {
  targetSelectors: [{group: inference.networking.k8s.io, kind: InferencePool, matchLabels: {limited: "yes"}}],
  traffic: {rateLimit: {local: [{requests: 3, unit: Hours}]}, timeouts: {request: 30s}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: picker}, spec: {ports: [{port: 9002}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: picker, labels: {
  kubernetes.io/service-name: picker}}, addressType: IPv4, ports: [{port: ${picker?.port ?? 9002}}],
  endpoints: [{addresses: [127.0.0.1]}]}
---
${pools.map(({ document }) => document).join("\n---\n")}`;
}

/** A request for which the picker names that endpoint. */
async function ask(path: string, picked: string | undefined) {
  const value = Buffer.from(picked ?? "").toString("base64");
  const mutation = { set_headers: [{ header: { key: header, raw_value: value } }] };
  const script = {
    request_headers: { request_headers: { response: { header_mutation: mutation } } },
  };
  const headers = { "x-process": JSON.stringify(picked === undefined ? {} : script) };
  return send(`${gateway.url}/${path}`, "POST", headers, "hello");
}

describe("an InferencePool", () => {
  it.each(["current", "alpha"])(
    "sends requests to the pods that its picker names: %s",
    async (name) => {
      for (const address of ["127.0.0.3", "127.0.0.2"]) {
        expect(await ask(name, `${address}:${port}`)).toMatchObject({ status: 200, body: address });
      }
    },
  );

  it("is called by HTTP/2 if its appProtocol requires it, under the policies that target it", async () => {
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await ask("fast", `127.0.0.4:${port}`));
    expect(statuses.map(({ body }) => body).slice(0, 3)).toEqual(["HTTP/2", "HTTP/2", "HTTP/2"]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });

  it("refuses requests without an endpoint unless it says FailOpen", async () => {
    expect((await ask("current", undefined)).status).toBe(503);
    expect((await ask("alpha", undefined)).status).toBe(200);
  });

  it("needs one port, its picker, and a headless Service of its pods", () => {
    const told = (spec: string) => complaints(checkManifests(manifests([pool("own", "v1", spec)])));
    const picked = "endpointPickerRef: {name: picker, port: {number: 9002}}";
    const models = "selector: {matchLabels: {app: models}}";
    expect(told(`{${models}, targetPorts: [{number: 1}], ${picked}}`)).toEqual([]);
    expect(told(`{${models}, targetPorts: [{number: 1}, {number: 2}], ${picked}}`)).toMatchObject([
      expect.stringContaining("several ports"),
    ]);
    expect(told(`{${models}, ${picked}}`).join()).toContain("targetPorts");
    expect(told(`{${models}, targetPorts: [{number: 1}]}`).join()).toContain("endpointPickerRef");
    expect(
      told(
        `{selector: {app: a, matchLabels: {app: b}}, targetPorts: [{number: 1}], ${picked}}`,
      ).join(),
    ).toContain("either matchLabels or plain labels");
    const others = "selector: {matchLabels: {app: models, tier: large}}";
    expect(told(`{${others}, targetPorts: [{number: 1}], ${picked}}`)).toMatchObject([
      expect.stringContaining("pool-without-service"),
    ]);
    const unknown = "endpointPickerRef: {name: nobody, port: {number: 9002}}";
    expect(told(`{${models}, targetPorts: [{number: 1}], ${unknown}}`)).toMatchObject([
      expect.stringContaining('there is no Service "default/nobody"'),
    ]);
  });
});
