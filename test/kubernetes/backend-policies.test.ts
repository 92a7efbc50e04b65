import type { RequestListener } from "node:http";
import { beforeAll, expect, it } from "vitest";
import { type AskedTunnel, startConnectProxy } from "../harness/connect-proxy.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { namedAddresses, startOnOnePort } from "../harness/same-port-servers.ts";
import { send } from "../harness/send.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

const PODS = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const [FIRST = ""] = PODS;

let gateway: Gateway;
/** Pods that fail the requests of clients, or the checks of the gateway. */
const failing = new Set<string>();
const ailing = new Set<string>();
/** The requests that the proxy received. */
const asked: AskedTunnel[] = [];

const pod =
  (address: string): RequestListener =>
  ({ url }, response) => {
    const isBad = url === "/healthz" ? ailing.has(address) : failing.has(address);
    response.writeHead(isBad ? 500 : 200).end(address);
  };

const policy = (name: string, target: string, backend: string) =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [${target}], backend: {${backend}}}}`;
const ofService = (name: string) => `{group: "", kind: Service, name: ${name}}`;
const ofRoute = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}";
const backend = (name: string, host: string, port: number, policies = "") =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: ${host}, port: ${port}}${policies}}}`;

beforeAll(async () => {
  const { port } = await startOnOnePort(PODS, pod);
  const proxyPort = await startConnectProxy(asked, (target) => {
    return { host: FIRST, port: Number(/:(\d+)$/.exec(target)?.[1]) };
  });
  const rule = (name: string, reference: string) =>
    `{matches: [{path: {value: /${name}}}], backendRefs: [{name: ${name}, ${reference}}]}`;
  const own = "group: gwc.dev, kind: GatewayBackend";
  const services = ["passive", "active"].map(
    (name) =>
      `{apiVersion: v1, kind: Service, metadata: {name: ${name}}, spec: {ports: [{port: ${port}}]}}`,
  );
  const rules = [
    ...["passive", "active"].map((name) => rule(name, `port: ${port}`)),
    ...["url", "named"].map((name) => rule(name, own)),
  ];
  const manifests = [
    `${gatewayManifest(await freePort())
      .trim()
      .slice(0, -"---".length)}`,
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${rules.join(", ")}]}}`,
    ...services,
    policy(
      "passive",
      ofService("passive"),
      "health: {unhealthyCondition: response.code == 500, eviction: {duration: 300s, consecutiveFailures: 2}}",
    ),
    policy(
      "active",
      ofService("active"),
      "health: {active: {path: /healthz, interval: 100ms, timeout: 5s, unhealthyThreshold: 1, healthyThreshold: 1}}",
    ),
    backend(
      "url",
      "far.test",
      port,
      `, policies: {tunnel: {url: "http://127.0.0.1:${proxyPort}"}}`,
    ),
    backend("named", "far.test", port, `, policies: {tunnel: {backendRef: {name: proxy, ${own}}}}`),
    backend("proxy", "127.0.0.1", proxyPort, ", policies: {auth: {key: open}}"),
  ];
  gateway = await startGateway({
    config: manifests.join("\n---\n"),
    env: {
      GWC_GATEWAYBACKEND_DEFAULT_PROXY_SPEC_POLICIES_AUTH_KEY: "open",
      ...namedAddresses({
        "passive.default.svc.cluster.local": PODS,
        "active.default.svc.cluster.local": PODS,
      }),
    },
  });
});

/** Which pods answer 60 requests; of three one is missed by chance once in 10 billion times. */
async function answering(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let i = 0; i < 60; i += 1) found.add((await send(`${gateway.url}/${path}`, "GET")).body);
  return found;
}

it("a pod of a Service that fails is not asked, and the others are", async () => {
  expect(await answering("passive")).toEqual(new Set(PODS));
  failing.add(FIRST);
  await answering("passive");
  expect(await answering("passive")).toEqual(new Set(PODS.slice(1)));
  failing.clear();
});

it("a pod is not asked while it fails the checks of the gateway", async () => {
  const settled = (pods: readonly string[]) =>
    eventually(async () => {
      const found = await answering("active");
      return (pods.length === found.size && pods.every((each) => found.has(each))) || null;
    }, `active: ${pods}`);
  await settled(PODS);
  ailing.add(FIRST);
  await settled(PODS.slice(1));
  ailing.clear();
  await settled(PODS);
});

it("a backend is reached through the proxy of its policy, which is shown what the proxy's own policy says", async () => {
  expect((await send(`${gateway.url}/url`, "GET")).body).toBe(FIRST);
  expect(asked.splice(0)).toEqual([[expect.stringMatching(/^far\.test:\d+$/), undefined]]);
  expect((await send(`${gateway.url}/named`, "GET")).body).toBe(FIRST);
  expect(asked).toEqual([[expect.stringMatching(/^far\.test:\d+$/), "Bearer open"]]);
});

it("unsupported settings are reported", () => {
  const route = (name: string) =>
    `${gatewayManifest(8080)}{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: ${name}, group: gwc.dev, kind: GatewayBackend}]}]}}`;
  const said = (...documents: readonly string[]) =>
    complaints(checkManifests([route("one"), ...documents].join("\n---\n")));
  expect(
    said(
      backend("one", "127.0.0.1", 80),
      policy("h", ofRoute, "health: {eviction: {duration: 5s}}"),
    ),
  ).toEqual([expect.stringContaining('"health" applies to requests that several backends share')]);
  expect(
    said(backend("one", "127.0.0.1", 80, ', policies: {tunnel: {url: "http://a.test/path"}}')),
  ).toEqual([expect.stringContaining("a URL of a proxy, without a path")]);
  expect(
    said(
      backend("one", "127.0.0.1", 80, ", policies: {tunnel: {backendRef: {name: none, port: 1}}}"),
    ),
  ).toEqual([expect.stringContaining('there is no Service "default/none"')]);
});
