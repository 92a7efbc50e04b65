import { createServer } from "node:net";
import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Port of a server that policies must not call. */
let asked: number;
let connections = 0;
let upstream: string;

beforeAll(async () => {
  asked = await listen(
    createServer((socket) => {
      connections += 1;
      socket.destroy();
    }),
  );
  upstream = await startUpstream((_, response) => response.end("shop"));
});

const metadata = (name: string): string => `metadata: {name: ${name}}`;
const own = (kind: string, name: string, spec: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: ${kind}, ${metadata(name)}, spec: ${spec}}`;
const gatewayApi = (kind: string, name: string, spec: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: ${kind}, ${metadata(name)}, spec: ${spec}}`;

const ofBackend = "{group: gwc.dev, kind: GatewayBackend, name: asked}";
const ofService = "{name: asked, port: 9000}";
const serviceTarget = "{group: '', kind: Service, name: asked}";

const backend = (policies = "{}"): string =>
  own(
    "GatewayBackend",
    "asked",
    `{static: {host: 127.0.0.1, port: ${asked}}, policies: ${policies}}`,
  );
const service = (): string =>
  `{apiVersion: v1, kind: Service, ${metadata("asked")}, spec: {ports: [{name: main, port: 9000}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: asked-1, labels: {kubernetes.io/service-name: asked}},
  addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{name: main, port: ${asked}}]}`;
const policyOn = (target: string, section: string): string =>
  own("GatewayPolicy", "reach", `{targetRefs: [${target}], backend: ${section}}`);
const tlsOf = (validation: string): string =>
  gatewayApi(
    "BackendTLSPolicy",
    "reach",
    `{targetRefs: [${serviceTarget}], validation: ${validation}}`,
  );

/** How the server is referred to, and the resources, of which one has a mistake. */
const mistakes: Readonly<Record<string, () => readonly [reference: string, resources: string]>> = {
  "a backend whose TLS has a mistake": () => [ofBackend, backend("{tls: {snii: a.test}}")],
  "a backend with a policy that nobody knows": () => [ofBackend, backend("{tsl: {}}")],
  "a backend whose authority is missing": () => [
    ofBackend,
    backend("{tls: {caCertificateRefs: [{name: gone}]}}"),
  ],
  "a backend whose credential is missing": () => [
    ofBackend,
    backend("{auth: {secretRef: {name: gone}}}"),
  ],
  "a backend with a policy on it that has a mistake": () => [
    ofBackend,
    `${backend()}\n---\n${policyOn(ofBackend, "{tsl: {}}")}`,
  ],
  "a Service with a policy on it that has a mistake": () => [
    ofService,
    `${service()}\n---\n${policyOn(serviceTarget, "{tsl: {}}")}`,
  ],
  "a Service with a policy on it whose credential is missing": () => [
    ofService,
    `${service()}\n---\n${policyOn(serviceTarget, "{auth: {secretRef: {name: gone}}}")}`,
  ],
  "a Service whose BackendTLSPolicy has a mistake": () => [
    ofService,
    `${service()}\n---\n${tlsOf("{hostname: a.test, wellKnownCACertificates: System, x: 1}")}`,
  ],
  "a Service whose BackendTLSPolicy trusts nobody": () => [
    ofService,
    `${service()}\n---\n${tlsOf("{hostname: a.test}")}`,
  ],
  "a Service that is not there": () => [ofService, backend()],
  "a Service without that port": () => ["{name: asked, port: 9001}", service()],
};

it.each(Object.keys(mistakes))(
  "requests that ask %s are refused at all levels, and others served",
  async (name) => {
    const [reference, resources] = mistakes[name]?.() ?? ["", ""];
    const traffic = (phase = "") => `{${phase}
      extAuth: {backendRef: ${reference}, grpc: {}, failureMode: FailOpen},
      rateLimit: {global: {backendRef: ${reference}, domain: shop, failureMode: FailOpen,
        descriptors: [{entries: [{name: path, expression: request.path}]}]}},
      extProc: {backendRef: ${reference}, failureMode: FailOpen}}`;
    const policy = (at: string, target: string, phase = "") =>
      own(
        "GatewayPolicy",
        `asks-on-${at}`,
        `{targetRefs: [{group: gateway.networking.k8s.io, ${target}}], traffic: ${traffic(phase)}}`,
      );
    const places = ["route", "listener", "before", "open"] as const;
    const port = await freePort();
    const listener = (place: string) =>
      `{name: ${place}, port: ${port}, protocol: HTTP, hostname: ${place}.test}`;
    const gateway = await startIsolated(
      [
        gatewayApi(
          "Gateway",
          "gw",
          `{gatewayClassName: gwc, listeners: [${places.map(listener).join(", ")}]}`,
        ),
        ...places.map((place) =>
          gatewayApi(
            "HTTPRoute",
            place,
            `{parentRefs: [{name: gw, sectionName: ${place}}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]}`,
          ),
        ),
        own(
          "GatewayBackend",
          "shop",
          `{static: {host: 127.0.0.1, port: ${new URL(upstream).port}}}`,
        ),
        resources,
        policy("route", "kind: HTTPRoute, name: route"),
        policy("listener", "kind: Gateway, name: gw, sectionName: listener"),
        policy("before", "kind: Gateway, name: gw, sectionName: before", "phase: PreRouting,"),
      ].join("\n---\n"),
    );
    const statuses: Record<string, number> = {};
    for (const place of places) {
      const headers = { host: `${place}.test` };
      statuses[place] = (await send(gateway.url, "GET", headers)).status;
    }
    expect(statuses).toMatchObject({ route: 500, listener: 500, before: 500 });
    expect(connections).toBe(0);
    // Of a BackendTLSPolicy that can't be read nobody knows which server it is about.
    if (!name.includes("BackendTLSPolicy")) expect(statuses.open).toBe(200);
  },
);
