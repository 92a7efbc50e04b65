import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { codeResources } from "../../compiler/controller/delivery/gateway-resources.ts";
import { signerOf } from "../../compiler/controller/delivery/signing-key.ts";
import { CompileChanges } from "../../compiler/controller/model/compile-changes.ts";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { DiscoveryServer } from "../../runtime/discovery/discovery-server.ts";
import { type ResourceSet, resourceTypes } from "../../runtime/discovery/resource-types.ts";
import type { PodAddress } from "../../runtime/net/service-endpoints.ts";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { MeshAuthority } from "../harness/mesh-authority.ts";
import { type MeshPodServer, startMeshHttp2Pod, startMeshPod } from "../harness/mesh-pod.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const OWN = "spiffe://cluster.local/ns/default/sa/front";
const SHOP = "spiffe://cluster.local/ns/default/sa/shop";

let authority: MeshAuthority;
let pod: MeshPodServer;
let foreign: MeshPodServer;
let plainPort: number;

beforeAll(async () => {
  authority = new MeshAuthority({ spiffeId: OWN });
  await authority.start();
  pod = await startMeshPod(authority, SHOP);
  foreign = await startMeshPod(authority, "spiffe://else.where/ns/default/sa/shop");
  plainPort = await listen(createServer((_, response) => response.end("plain")));
});

/** A data plane of a Gateway in a mesh, with a route for each Service. */
interface DataPlane {
  readonly agent: GwcProcess;
  /** The status and body at the path of a Service. */
  readonly get: (service: string) => Promise<string>;
  /** The status of its readiness page. */
  readonly readiness: () => Promise<number>;
  /** Since when and until when its certificate is valid, as its metrics say; NaN: they say nothing. */
  readonly validity: () => Promise<readonly [start: number, expiry: number]>;
  readonly tokenFile: string;
}

async function startDataPlane(
  mesh: object,
  services: Readonly<Record<string, PodAddress>>,
  account = "front",
): Promise<DataPlane> {
  const [port = 0, stats = 0, ready = 0] = await freePorts(3);
  const files = compileFiles(
    manifests(mesh, Object.keys(services), [port, stats, ready]),
    undefined,
  );
  const [compiled] = new CompileChanges().of(files).gateways;
  if (compiled === undefined) throw new Error("the Gateway has mistakes");
  const { privateKey } = generateKeyPairSync("ed25519");
  const signer = signerOf(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  const endpoints: ResourceSet = new Map(
    Object.entries(services).map(([name, address]) => {
      return [
        `default/${name}:80`,
        { version: "1", value: Buffer.from(JSON.stringify([address])) },
      ];
    }),
  );
  const sets = new Map(codeResources(compiled, resourceTypes, signer, undefined).sets);
  sets.set(resourceTypes.endpoints, endpoints);
  const server = await DiscoveryServer.open({
    ...{ host: "127.0.0.1", port: 0 },
    authorize: () => Promise.resolve(),
    resources: (_, type) => sets.get(type as typeof resourceTypes.module) ?? new Map(),
    settled: () => {},
    connected: () => {},
  });
  atEnd(() => server.close());
  const folder = temporaryFolder({ "xds-token": "any", "istio-token": "first" });
  const agent = new GwcProcess(["agent"], {
    env: {
      XDS_ADDRESS: `http://127.0.0.1:${server.port}`,
      XDS_TOKEN_FILE: path.join(folder, "xds-token"),
      ...{ NAMESPACE: "default", GATEWAY: "front", SERVICE_ACCOUNT: account },
      GWC_AGENT_DIR: temporaryFolder(),
      CA_AUTH_TOKEN: path.join(folder, "istio-token"),
      CA_ROOT_CA: authority.root,
    },
  });
  await agent.seen(/serving generation|refused: /);
  const get = async (service: string) => {
    const { status, body } = await send(`http://127.0.0.1:${port}/${service}`, "GET");
    return `${status} ${body}`;
  };
  const readiness = async () =>
    (await send(`http://127.0.0.1:${ready}/healthz/ready`, "GET")).status;
  const validity = async () => {
    const { body } = await send(`http://127.0.0.1:${stats}/metrics`, "GET");
    const timeOf = (end: string) => {
      const line = `gwc_mesh_certificate_${end}_timestamp_seconds{trust_domain="cluster.local"} `;
      return Number(body.split(line)[1]?.split("\n")[0]);
    };
    return [timeOf("start"), timeOf("expiry")] as const;
  };
  return { agent, get, readiness, validity, tokenFile: path.join(folder, "istio-token") };
}

function manifests(
  mesh: object,
  services: readonly string[],
  [port, stats, ready]: readonly number[],
): Record<string, string> {
  const api = "gateway.networking.k8s.io/v1";
  const metadata = { name: "front", namespace: "default" };
  const parametersRef = { group: "gwc.dev", kind: "GatewayParameters", name: "front" };
  const listeners = [{ name: "http", port, protocol: "HTTP" }];
  const config = { statsAddr: `127.0.0.1:${stats}`, readinessAddr: `127.0.0.1:${ready}` };
  const rules = services.map((name) => ({
    matches: [{ path: { value: `/${name}` } }],
    backendRefs: [{ name, port: 80 }],
  }));
  const objects = [
    {
      apiVersion: api,
      kind: "GatewayClass",
      metadata: { name: "gwc" },
      spec: { controllerName: "gwc.dev/gateway" },
    },
    {
      ...{ apiVersion: api, kind: "Gateway", metadata },
      spec: { gatewayClassName: "gwc", infrastructure: { parametersRef }, listeners },
    },
    {
      apiVersion: "gwc.dev/v1alpha1",
      kind: "GatewayParameters",
      metadata,
      spec: { rawConfig: { config }, mesh },
    },
    {
      apiVersion: api,
      kind: "HTTPRoute",
      metadata,
      spec: { parentRefs: [{ name: "front" }], rules },
    },
    ...services.map((name) => ({
      ...{ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default" } },
      spec: {
        ports: [{ port: 80, ...(name === "http2" && { appProtocol: "kubernetes.io/h2c" }) }],
      },
    })),
  ];
  return Object.fromEntries(objects.map((each, index) => [`/${index}`, JSON.stringify(each)]));
}

const at = ({ port }: { readonly port: number }, account?: string): PodAddress =>
  account === undefined ? ["127.0.0.1", port] : ["127.0.0.1", port, account];

it("pods of the mesh are asked under the gateway's own name, and nobody else is believed to be one", async () => {
  authority.behaviour = { spiffeId: OWN, seconds: 12 };
  const { agent, get, readiness, validity } = await startDataPlane(
    { caAddress: `127.0.0.1:${authority.port}`, clusterId: "east" },
    {
      shop: at(pod, "default/shop"),
      thief: at(pod, "default/cash"),
      foreign: at(foreign, "default/shop"),
      plain: at({ port: plainPort }),
      bare: at(pod),
      http2: at({ port: await startMeshHttp2Pod(authority, SHOP) }, "default/shop"),
    },
  );
  const [, until = ""] = await agent.seen(/certificate of the mesh is valid until (\S+)Z/);
  expect(await readiness()).toBe(200);
  const [start, expiry] = await validity();
  expect(expiry).toBeGreaterThanOrEqual(Date.parse(`${until}Z`) / 1000);
  expect(start).toBeLessThan(expiry);
  expect(await get("shop")).toBe(`200 URI:${OWN} by istio`);
  expect(await get("http2")).toBe("200 HTTP/2.0");
  expect(await get("plain")).toBe("200 plain");
  for (const other of ["thief", "foreign", "bare"]) expect(await get(other)).toMatch(/^50[23] /);
  await agent.seen(
    /the certificate of the pod is not one of spiffe:\/\/cluster\.local\/ns\/default\/sa\/cash/,
  );
  expect(authority.calls.at(-1)).toEqual({ token: "first", cluster: "east", validity: 86_400 });
  // The first renewal fails; the next one succeeds while requests run, each on a connection of its own.
  authority.behaviour = { spiffeId: OWN, token: "second" };
  await agent.seen(/request authenticate failure.*the previous one stays in use/);
  pod.server.maxRequestsPerSocket = 1;
  const before = pod.shown.size;
  authority.behaviour = { spiffeId: OWN };
  const seen = new Set<string>();
  await eventually(async () => {
    for (const each of await Promise.all([1, 2, 3].map(() => get("shop")))) seen.add(each);
    return pod.shown.size > before ? pod.shown : null;
  }, "another certificate");
  expect([...seen]).toEqual([`200 URI:${OWN} by istio`]);
});

it("without a certificate it says why, is not ready, and tries until there is one", async () => {
  const [port = 0] = await freePorts(1);
  const { agent, get, readiness, tokenFile } = await startDataPlane(
    { caAddress: `https://127.0.0.1:${port}` },
    { shop: at(pod, "default/shop"), plain: at({ port: plainPort }) },
  );
  await agent.seen(/no certificate of the mesh: .*ECONNREFUSED.*; retrying/);
  expect(await readiness()).toBe(503);
  expect(await get("shop")).toMatch(/^503 /);
  expect(await get("plain")).toBe("200 plain");
  authority.behaviour = { spiffeId: OWN, chain: ["no certificate", "none"] };
  await authority.start(port);
  await agent.seen(/the authority's response is not a certificate chain/);
  authority.behaviour = { spiffeId: "spiffe://else.where/ns/default/sa/front" };
  await agent.seen(
    /the authority's certificate is for URI:spiffe:\/\/else\.where\/ns\/default\/sa\/front/,
  );
  authority.behaviour = { spiffeId: OWN, isSilent: true };
  await agent.seen(/no certificate of the mesh: .*no response in 5000 ms/);
  authority.behaviour = { spiffeId: OWN, token: "second" };
  await agent.seen(/UNAUTHENTICATED|request authenticate failure/);
  expect(await readiness()).toBe(503);
  writeFileSync(tokenFile, "second\n");
  await agent.seen(/certificate of the mesh is valid until/);
  expect(await readiness()).toBe(200);
  expect(await get("shop")).toBe(`200 URI:${OWN} by istio`);
  expect(agent.output).not.toContain("Bearer");
});

it("certificates that somebody else keeps in a folder are waited for, and followed", async () => {
  const folder = temporaryFolder();
  const issue = (name: string) => {
    const { cert, key } = authority.issueFiles(name, OWN);
    writeFileSync(path.join(folder, "ca.crt"), readFileSync(authority.root));
    writeFileSync(path.join(folder, "tls.key"), key);
    writeFileSync(path.join(folder, "tls.crt"), cert);
  };
  const { agent, get, readiness, validity } = await startDataPlane(
    { caAddress: `file://${folder}` },
    { shop: at(pod, "default/shop") },
  );
  await agent.seen(/no certificate of the mesh: .*; retrying/);
  expect(await readiness()).toBe(503);
  expect(await validity()).toEqual([Number.NaN, Number.NaN]);
  issue("one");
  await agent.seen(/certificate of the mesh in .*tls\.crt/);
  const shown = new X509Certificate(readFileSync(path.join(folder, "tls.crt")));
  const dates = [shown.validFromDate, shown.validToDate];
  expect(await validity()).toEqual(dates.map((date) => date.getTime() / 1000));
  expect(await readiness()).toBe(200);
  pod.server.maxRequestsPerSocket = 1;
  expect(await get("shop")).toBe(`200 URI:${OWN} by istio`);
  const before = pod.shown.size;
  issue("two");
  const seen = new Set<string>();
  await eventually(async () => {
    seen.add(await get("shop"));
    return pod.shown.size > before ? pod.shown : null;
  }, "the other certificate");
  expect([...seen]).toEqual([`200 URI:${OWN} by istio`]);
});

it("a pod that does not know its account refuses to serve", async () => {
  const { agent } = await startDataPlane({}, { shop: at(pod, "default/shop") }, "");
  expect(agent.output).toContain(
    "refused: the environment variable SERVICE_ACCOUNT is not set: it is a part of the identity in the mesh",
  );
});

it("its pods get a token for the mesh's authority, and each field as the Gateway says, else its class", () => {
  const files = manifests({ trustDomain: "own.test" }, ["shop"], [80, 1, 2]);
  const metadata = { name: "of-class", namespace: "default" };
  const parametersRef = { group: "gwc.dev", kind: "GatewayParameters", ...metadata };
  const controllerName = "gwc.dev/gateway";
  const istio = { caAddress: "https://ca.test", trustDomain: "class.test" };
  const { gateways } = compileFiles(
    {
      ...files,
      "/0": JSON.stringify({
        ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "GatewayClass" },
        ...{ metadata: { name: "gwc" }, spec: { controllerName, parametersRef } },
      }),
      "/class": JSON.stringify({
        ...{ apiVersion: "agentgateway.dev/v1alpha1", kind: "AgentgatewayParameters" },
        ...{ metadata, spec: { istio } },
      }),
    },
    {
      ...{ image: "gwc", pullPolicy: undefined, address: "http://controller:9978" },
      ...{ audience: "gwc.dev/controller", authority: undefined, signer: "" },
    },
  );
  const [{ objects = [], modules = [] } = {}] = gateways.values();
  expect(modules.find((each) => each.path === "main.ts")?.text).toContain(
    'mesh: istioMesh({ url: "https://ca.test", kubernetesId: "Kubernetes", trustDomain: "own.test" })',
  );
  const deployment = JSON.stringify(objects);
  expect(deployment).toContain(
    '{"name":"istio-token","projected":{"sources":[{"serviceAccountToken":{"audience":"istio-ca","expirationSeconds":43200,"path":"istio-token"}}]}}',
  );
  expect(deployment).toContain(
    '{"name":"istio-ca","configMap":{"name":"istio-ca-root-cert","optional":true}}',
  );
  expect(deployment).toContain(
    '{"name":"SERVICE_ACCOUNT","valueFrom":{"fieldRef":{"fieldPath":"spec.serviceAccountName"}}}',
  );
});
