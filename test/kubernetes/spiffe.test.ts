import { createServer } from "node:https";
import path from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { freePorts } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { OpensslAuthority } from "../harness/openssl-authority.ts";
import { send } from "../harness/send.ts";
import { WorkloadAgent } from "../harness/workload-agent.ts";
import { complaintsAbout } from "./mistaken-manifests.ts";

const GATEWAY = "spiffe://example.org/gateway";
const SHOP = "spiffe://example.org/shop";
const OPTION = "agentgateway.dev/tls-certificate-source";

const parametersRef = { group: "gwc.dev", kind: "GatewayParameters", name: "own" };

function parameters(spiffe: object, name = "own"): object {
  const metadata = { name, namespace: "default" };
  return { apiVersion: "gwc.dev/v1alpha1", kind: "GatewayParameters", metadata, spec: { spiffe } };
}

function gatewayOf(listeners: readonly object[]): object {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "gw", namespace: "default" },
    spec: { gatewayClassName: "gwc", infrastructure: { parametersRef }, listeners },
  };
}

function secureListener(port: number): object {
  return {
    ...{ name: "secure", port, protocol: "HTTPS" },
    tls: { mode: "Terminate", options: { [OPTION]: "SPIFFE" } },
  };
}

it("a Gateway serves its identity, and shows it to backends, as policies and options say", async () => {
  const [port = 0, secure = 0] = await freePorts(2);
  const authority = new OpensslAuthority();
  const agent = await new WorkloadAgent().start();
  agent.push({ spiffeId: GATEWAY, ...(await authority.issue(`URI:${GATEWAY}`)) });
  const { cert, key } = await authority.issue(`URI:${SHOP}`);
  const server = createServer(
    { cert, key, ca: authority.rootText, requestCert: true },
    ({ socket }, response) =>
      response.end((socket as TLSSocket).getPeerCertificate().subjectaltname),
  );
  const shop = await listen(server);
  const backend = (name: string, verifySubjectAltNames: readonly string[]) => ({
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayBackend",
    metadata: { name },
    spec: {
      static: { host: "localhost", port: shop },
      policies: { tls: { certificateSource: "SPIFFE", verifySubjectAltNames, sni: "shop.test" } },
    },
  });
  const source = {
    hostPath: { path: "/run/spire" },
    mountPath: path.dirname(agent.socket),
    socketName: path.basename(agent.socket),
  };
  const documents = [
    gatewayOf([{ name: "plain", port, protocol: "HTTP" }, secureListener(secure)]),
    parameters({ source }),
    backend("named", [SHOP]),
    backend("other", ["spiffe://example.org/other"]),
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "r" },
      spec: {
        parentRefs: [{ name: "gw" }],
        rules: ["named", "other"].map((name) => ({
          matches: [{ path: { type: "PathPrefix", value: `/${name}` } }],
          backendRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name }],
        })),
      },
    },
  ];
  const gateway = await startGateway({
    config: documents.map((each) => JSON.stringify(each)).join("\n---\n"),
  });
  await gateway.seen(/identity spiffe:\/\/example\.org\/gateway is valid until/);
  const ask = (name: string) => send(`http://127.0.0.1:${port}/${name}`, "GET");
  expect(await ask("named")).toMatchObject({ status: 200, body: `URI:${GATEWAY}` });
  expect((await ask("other")).status).toBe(503);
  const client = await authority.issue("URI:spiffe://example.org/client");
  const socket = connect({ port: secure, ...client, rejectUnauthorized: false });
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  expect(socket.getPeerCertificate().subjectaltname).toBe(`URI:${GATEWAY}`);
  socket.destroy();
});

/** Returns the manifests of the Deployment, and the code of a Gateway with these parameters of its own and of its class. */
function built(own: object | undefined, ofClass?: object): { objects: string; main: string } {
  const metadata = { name: "gwc" };
  const reference = { ...parametersRef, name: "of-class", namespace: "default" };
  const { gateways } = compileFiles(
    {
      "/gateway": JSON.stringify(gatewayOf([secureListener(443)])),
      "/route": JSON.stringify({
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "HTTPRoute",
        metadata: { name: "r", namespace: "default" },
        spec: { parentRefs: [{ name: "gw" }] },
      }),
      "/own": JSON.stringify(own === undefined ? { ...parameters({}), spec: {} } : parameters(own)),
      ...(ofClass && {
        "/parameters": JSON.stringify(parameters(ofClass, "of-class")),
        "/class": JSON.stringify({
          ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "GatewayClass", metadata },
          spec: { controllerName: "gwc.dev/gateway", parametersRef: reference },
        }),
      }),
    },
    {
      ...{ image: "gwc", pullPolicy: undefined, address: "http://controller:9978" },
      ...{ audience: "gwc.dev/controller", authority: undefined, signer: "" },
    },
  );
  const [{ objects = [], modules = [] } = {}] = gateways.values();
  const main = modules.find((each) => each.path === "main.ts")?.text ?? "";
  return { objects: JSON.stringify(objects), main };
}

it("pods mount the socket by the CSI driver of SPIFFE, unless parameters say otherwise", () => {
  const { objects, main } = built({});
  expect(objects).toContain(
    '{"name":"spiffe-workload-api","csi":{"driver":"csi.spiffe.io","readOnly":true}}',
  );
  expect(objects).toContain(
    '{"name":"spiffe-workload-api","mountPath":"/spiffe-workload-api","readOnly":true}',
  );
  expect(main).toContain('workloadApi("unix:///spiffe-workload-api/spire-agent.sock")');
  const other = built({
    source: { hostPath: { path: "/run/spire" }, mountPath: "/agent", socketName: "api.sock" },
  });
  expect(other.objects).toContain('"hostPath":{"path":"/run/spire","type":"Directory"}');
  expect(other.main).toContain('workloadApi("unix:///agent/api.sock")');
});

it("parameters of a Gateway replace those of its class, and can opt out", () => {
  const csi = { driver: "csi.example.com" };
  expect(built(undefined, { source: { csi } }).objects).toContain('"driver":"csi.example.com"');
  expect(built({}, { source: { csi } }).objects).toContain('"driver":"csi.spiffe.io"');
  expect(built({ enabled: false }, { source: { csi } }).objects).not.toContain("csi.example.com");
});

it("contradictions between SPIFFE and other certificates are mistakes", () => {
  const listener = (tls: object) =>
    JSON.stringify({
      ...gatewayOf([{ name: "a", port: 443, protocol: "HTTPS", tls }]),
      metadata: { name: "secure" },
    });
  const own = JSON.stringify(parameters({}));
  const options = { [OPTION]: "SPIFFE" };
  const codes = (...documents: readonly string[]) =>
    complaintsAbout(...documents).map((text) => text.split(":")[0]);
  expect(codes(own, listener({ options }))).not.toContain("spiffe-without-source");
  expect(codes(own, listener({ options, certificateRefs: [{ name: "a" }] }))).toContain(
    "broken-rule",
  );
  expect(codes(own, listener({ options, mode: "Passthrough" }))).toContain("broken-rule");
  expect(codes(listener({ options }))).toContain("spiffe-without-source");
  expect(codes(own, listener({ options: { [OPTION]: "DYNAMIC_CA" } }))).toContain("not-built-yet");
});
