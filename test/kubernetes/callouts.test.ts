import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { type AskedTunnel, startConnectProxy } from "../harness/connect-proxy.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { mountsIn } from "../harness/mounts.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "./manifests.ts";

/** By how they are reached: `secure` over TLS, with a credential. */
let plain: EnvoyServices;
let secure: EnvoyServices;
let upstream: string;

/** The places of the policies, as named in their backendRef. */
const places = ["route", "gateway", "before"] as const;
const servers = ["service", "backend"] as const;

/** One gateway for each place and server. */
const gateways: Record<string, Gateway> = {};

beforeAll(async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "ca");
  makeCertificate(folder, "auth", { signer: "ca", names: "DNS:auth.test" });
  [plain, secure, upstream] = await Promise.all([
    startEnvoyServices(),
    startEnvoyServices(0, { key: join(folder, "auth.key"), cert: join(folder, "auth.pem") }),
    startUpstream((_, response) => response.end("shop")),
  ]);
  const mounts = {
    "config-maps/ca/ca.crt": readFileSync(join(folder, "ca.pem"), "utf8"),
    "secrets/token/Authorization": "the-token",
  };
  await Promise.all(
    places.flatMap((place) =>
      servers.map(async (server) => {
        gateways[`${place} ${server}`] = await start(place, server, mounts);
      }),
    ),
  );
}, 240_000);

/** A server that is starved takes longer than a call may by default. */
const PATIENT = "http: {requestTimeout: 60s}";
const metadata = (name: string): string => `metadata: {name: ${name}}`;
const backend = (name: string, port: string | number, policies = ""): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, ${metadata(name)}, spec: {static: {host: 127.0.0.1, port: ${port}}${policies}}}`;

async function start(
  place: (typeof places)[number],
  server: (typeof servers)[number],
  mounts: Readonly<Record<string, string>>,
): Promise<Gateway> {
  const reference =
    server === "service"
      ? "{name: asked, port: 9000}"
      : "{group: gwc.dev, kind: GatewayBackend, name: asked}";
  const target = place === "route" ? "kind: HTTPRoute, name: shop" : "kind: Gateway, name: asks";
  const phase = place === "before" ? "phase: PreRouting," : "";
  const condition = `'request.path != "/shop/free"'`;
  const form = (policy: string) =>
    place === "gateway" ? `{conditional: [{condition: ${condition}, policy: ${policy}}]}` : policy;
  const config = [
    `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("asks")}, spec: {
      gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}}`,
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("shop")}, spec: {
      parentRefs: [{name: asks}], rules: [{matches: [{path: {value: /shop}}],
        backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]}}`,
    backend("shop", new URL(upstream).port),
    server === "service"
      ? `{apiVersion: v1, kind: Service, ${metadata("asked")}, spec: {ports: [{name: main, port: 9000}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: asked-1, labels: {kubernetes.io/service-name: asked}},
  addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{name: main, port: ${plain.port}}]}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("patient")}, spec: {
  targetRefs: [{group: "", kind: Service, name: asked}], backend: {${PATIENT}}}}`
      : backend(
          "asked",
          secure.port,
          `, policies: {tls: {sni: auth.test, caCertificateRefs: [{name: ca}]}, auth: {secretRef: {name: token}}, ${PATIENT}}`,
        ),
    `{apiVersion: v1, kind: ConfigMap, ${metadata("ca")}, data: {ca.crt: ''}}`,
    `{apiVersion: v1, kind: Secret, ${metadata("token")}, data: {Authorization: ''}}`,
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("asks")}, spec: {
      targetRefs: [{group: gateway.networking.k8s.io, ${target}}], traffic: {${phase}
        extAuth: ${form(`{backendRef: ${reference}, grpc: {}}`)},
        rateLimit: ${form(`{global: {backendRef: ${reference}, domain: shop,
          descriptors: [{entries: [{name: user, expression: 'request.headers["x-user"]'}]}]}}`)},
        extProc: ${form(`{backendRef: ${reference}}`)}}}}`,
  ];
  const folder = temporaryFolder(mounts);
  return startGateway({
    config: config.join("\n---\n"),
    folder,
    env: mountsIn(folder),
  });
}

describe.each(places)("policies that ask servers, on a %s", (place) => {
  it.each(servers)("ask what backendRef names: a %s", async (server) => {
    const services = server === "service" ? plain : secure;
    const gateway = gateways[`${place} ${server}`];
    const before = services.seen().length;
    const asked = () => services.seen().slice(before);
    const ask = (path: string, headers = {}) =>
      send(`${gateway?.url}${path}`, "GET", { "x-user": `${place}-${server}`, ...headers });
    expect(await ask("/shop")).toMatchObject({ status: 200, body: "shop" });
    expect([...new Set(asked().map(({ call }) => call))]).toEqual([
      ...["Check", "ShouldRateLimit", "Process"],
    ]);
    for (const { metadata } of asked()) {
      expect(metadata.authorization).toBe(server === "backend" ? "Bearer the-token" : undefined);
    }
    const denied = { "x-verdict": JSON.stringify({ status: { code: 7 } }) };
    expect((await ask("/shop", denied)).status).toBe(403);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await ask("/shop")).status);
    expect(statuses).toEqual([200, 200, 429]);
    // Requests without a route are checked only before routing.
    const count = asked().length;
    if (place === "gateway") {
      expect((await ask("/shop/free", denied)).status).toBe(200);
      expect(asked()).toHaveLength(count);
    }
    expect((await ask("/nowhere", denied)).status).toBe(place === "before" ? 403 : 404);
    expect(asked().length - count).toBe(place === "before" ? 1 : 0);
  });
});

it("a file has them on routes and listeners, of a host or a named backend", async () => {
  const services = await startEnvoyServices();
  const host = `127.0.0.1:${services.port}`;
  const entries = [{ key: "user", value: 'request.headers["x-user"]' }];
  const policies = (server: object) => ({
    extAuthz: server,
    remoteRateLimit: { ...server, domain: "shop", descriptors: [{ entries }] },
    extProc: server,
  });
  const headers = { requestHeaderModifier: { set: { "x-from": "gate" }, remove: ["x-none"] } };
  const own = { name: "asked", host, policies: { ...headers, ...patient } };
  const backends = [{ host: new URL(upstream).host }];
  const routes = [{ name: "shop", matches: [{ path: { pathPrefix: "/shop" } }], backends }];
  const listeners = [
    { name: "listener", hostname: "a.test", policies: policies({ backend: "asked" }), routes },
    {
      ...{ name: "route", hostname: "b.test" },
      routes: routes.map((route) => ({
        ...route,
        policies: policies({ host, policies: patient }),
      })),
    },
  ];
  const gateway = await startGateway({ listeners, file: { backends: [own] } });
  const seenFor = async (name: string, path: string) => {
    const before = services.seen().length;
    const { status } = await send(`${gateway.url}${path}`, "GET", { host: name, "x-user": name });
    return [
      status,
      ...new Set(
        services
          .seen()
          .slice(before)
          .map(({ call }) => call),
      ),
    ];
  };
  const all = ["Check", "ShouldRateLimit", "Process"];
  expect(await seenFor("a.test", "/shop")).toEqual([200, ...all]);
  expect(new Set(services.seen().map(({ metadata }) => metadata["x-from"]))).toEqual(
    new Set(["gate"]),
  );
  expect(await seenFor("a.test", "/nowhere")).toEqual([404, ...all]);
  expect(await seenFor("b.test", "/shop")).toEqual([200, ...all]);
  expect(await seenFor("b.test", "/nowhere")).toEqual([404]);
});

describe("policies on the server that is asked", () => {
  const asks = (server: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("asks")}, spec: {
      targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}], traffic: {
        extAuth: {backendRef: ${server}, grpc: {}}, rateLimit: {global: {backendRef: ${server}, domain: shop,
          descriptors: [{entries: [{name: user, expression: request.path}]}]}}}}}`;
  const named = "{group: gwc.dev, kind: GatewayBackend, name: asked}";
  const manifests = (port: number, rules: string, ...rest: readonly string[]) =>
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("asks")}, spec: {
        gatewayClassName: gwc, listeners: [{name: web, port: ${port}, protocol: HTTP}]}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("shop")}, spec: {
        parentRefs: [{name: asks}], rules: [${rules}]}}`,
      ...rest,
    ].join("\n---\n");
  const toBackend = (name: string, path = "/") =>
    `{matches: [{path: {value: ${path}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${name}}]}`;

  it("say through which proxy it is asked, and what that is shown", async () => {
    const tunnels: AskedTunnel[] = [];
    const end = { host: "127.0.0.1", port: plain.port };
    const proxyPort = await startConnectProxy(tunnels, () => end);
    const tunnel = "tunnel: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: proxy}}";
    const gateway = await startGateway({
      config: manifests(
        await freePort(),
        toBackend("shop"),
        backend("shop", new URL(upstream).port),
        `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, ${metadata("asked")}, spec: {
          static: {host: far.test, port: 9000}, policies: {${tunnel}, ${PATIENT}}}}`,
        backend("proxy", proxyPort, ", policies: {auth: {key: open}}"),
        asks(named),
      ),
      env: { GWC_GATEWAYBACKEND_DEFAULT_PROXY_SPEC_POLICIES_AUTH_KEY: "open" },
    });
    const before = plain.seen().length;
    expect(await send(`${gateway.url}/tunnelled`, "GET")).toMatchObject({ status: 200 });
    const calls = plain.seen().slice(before);
    expect(calls.map(({ call }) => call)).toEqual(["Check", "ShouldRateLimit"]);
    expect(tunnels).toEqual([["far.test:9000", "Bearer open"]]);
  });

  it("are reported where they act only on requests of clients", () => {
    const said = (rules: string, policies: string) =>
      complaints(
        checkManifests(
          manifests(
            8080,
            rules,
            backend("shop", 80),
            backend("asked", 9000, `, policies: {${policies}}`),
            asks(named),
          ),
        ),
      ).map((each) => each.replace(/^\d+ /, ""));
    const both = `${toBackend("shop")}, ${toBackend("asked", "/asked")}`;
    const rules = "authorization: {policy: {matchExpressions: ['source.port > 1']}}";
    const warning =
      'not-for-calls: "authorization" does not apply to the calls of GatewayPolicy "default/asks" to this server';
    expect(said(both, rules)).toEqual([warning, warning]);
    // Of one that no client's request reaches nothing is left that they could act on.
    expect(said(toBackend("shop"), rules)).toEqual([
      expect.stringContaining('"authorization" applies to plain HTTP requests'),
    ]);
  });
});

describe("what manifests say of servers that fail, and of sizes and places", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const rule = (path: string) =>
      `{name: ${path}, matches: [{path: {value: /${path}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}`;
    const nobody = "{group: gwc.dev, kind: GatewayBackend, name: nobody}";
    const asked = "{group: gwc.dev, kind: GatewayBackend, name: asked}";
    const limits = (rest: string) =>
      `rateLimit: {global: {backendRef: ${nobody}, domain: shop, ${rest} descriptors: [{entries: [{name: a, expression: request.path}]}]}}`;
    const traffic = {
      auth: `extAuth: {backendRef: ${nobody}, grpc: {}}`,
      "auth-open": `extAuth: {backendRef: ${nobody}, grpc: {}, failureMode: FailOpen}`,
      limit: limits(""),
      "limit-open": limits("failureMode: FailOpen,"),
      process: `extProc: {backendRef: ${nobody}}`,
      "process-open": `extProc: {backendRef: ${nobody}, failureMode: FailOpen}`,
      body: `extAuth: {backendRef: ${asked}, grpc: {}, forwardBody: {maxSize: 1Ki}}`,
      key: "apiKeyAuthentication: {secretRef: {name: keys}, location: {queryParameter: {name: key}}}",
    };
    const names = Object.keys(traffic);
    const folder = temporaryFolder({ "secrets/keys/eve": "open-sesame" });
    gateway = await startGateway({
      folder,
      env: { GWC_SECRETS_DIR: join(folder, "secrets") },
      config: [
        `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("asks")}, spec: {
          gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}}`,
        `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("shop")}, spec: {
          parentRefs: [{name: asks}], rules: [${names.map(rule).join(", ")}]}}`,
        `{apiVersion: v1, kind: Secret, ${metadata("keys")}, data: {eve: ''}}`,
        backend("shop", new URL(upstream).port),
        backend("nobody", await freePort()),
        backend("asked", plain.port, `, policies: {${PATIENT}}`),
        ...Object.entries(traffic).map(
          ([name, policy]) =>
            `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata(name)}, spec: {targetRefs: [
              {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: ${name}}], traffic: {${policy}}}}`,
        ),
      ].join("\n---\n"),
    });
  });

  it.each([
    ["auth", 403],
    ["limit", 500],
    ["process", 500],
  ])(
    "without %s's server requests are refused, unless failureMode lets them pass",
    async (name, status) => {
      expect((await send(`${gateway.url}/${name}`, "GET")).status).toBe(status);
      expect((await send(`${gateway.url}/${name}-open`, "GET")).status).toBe(200);
    },
  );

  it("a size may be a quantity, and the location of a credential is configurable", async () => {
    const post = (size: number) =>
      send(`${gateway.url}/body`, "POST", { "x-user": `size-${size}` }, "a".repeat(size));
    expect([(await post(1024)).status, (await post(1025)).status]).toEqual([200, 413]);
    expect((await send(`${gateway.url}/key?key=open-sesame`, "GET")).status).toBe(200);
    const bearer = { authorization: "Bearer open-sesame" };
    expect((await send(`${gateway.url}/key`, "GET", bearer)).status).toBe(401);
  });
});

it("of conditional limits one entry acts, whatever kinds of limits the others are", async () => {
  const server = "{group: gwc.dev, kind: GatewayBackend, name: asked}";
  const global = `global: {backendRef: ${server}, domain: shop, descriptors: [
    {entries: [{name: user, expression: 'request.headers["x-user"]'}]}]}`;
  const local = "local: [{requests: 1, unit: Hours}]";
  const rules = ["global-first", "local-first"].map(
    (name) => `{name: ${name}, matches: [{path: {value: /${name}}}], backendRefs: [
      {group: gwc.dev, kind: GatewayBackend, name: shop}]}`,
  );
  const policy = (name: string, first: string, second: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata(name)}, spec: {targetRefs: [
      {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: ${name}}], traffic: {rateLimit: {
      conditional: [{condition: 'request.method == "GET"', policy: {${first}}}, {policy: {${second}}}]}}}}`;
  const gateway = await startGateway({
    config: [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("asks")}, spec: {
        gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("shop")}, spec: {
        parentRefs: [{name: asks}], rules: [${rules.join(", ")}]}}`,
      backend("shop", new URL(upstream).port),
      backend("asked", plain.port),
      policy("global-first", global, local),
      policy("local-first", local, global),
    ].join("\n---\n"),
  });
  const statuses = async (path: string, method: string, count: number) => {
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      const headers = { "x-user": `${path}-${method}` };
      all.push((await send(`${gateway.url}/${path}`, method, headers)).status);
    }
    return all;
  };
  // The service lets three pass, the gateway itself one.
  expect(await statuses("global-first", "GET", 4)).toEqual([200, 200, 200, 429]);
  expect(await statuses("global-first", "PUT", 2)).toEqual([200, 429]);
  expect(await statuses("local-first", "GET", 2)).toEqual([200, 429]);
  expect(await statuses("local-first", "PUT", 4)).toEqual([200, 200, 200, 429]);
});
