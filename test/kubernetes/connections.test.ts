import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { createServer as createSecure } from "node:https";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { mountsIn } from "../harness/mounts.ts";
import { tell } from "../harness/tell.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests, complaints } from "./manifests.ts";

const metadata = (name: string) => `metadata: {name: ${name}}`;
const service = (name: string, port: number, rest = ""): string =>
  [
    `{apiVersion: v1, kind: Service, ${metadata(name)}, spec: {ports: [{name: main, port: 80, ${rest}}]}}`,
    slice(name, port),
  ].join("\n---\n");
const slice = (name: string, port: number, suffix = "1"): string =>
  `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ${name}-${suffix}, labels: {kubernetes.io/service-name: ${name}}}, addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{name: main, port: ${port}}]}`;
const tlsPolicy = (name: string, validation: string, section = ""): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, ${metadata(name)}, spec: {targetRefs: [{group: "", kind: Service, name: ${name}${section}}], validation: {${validation}}}}`;
const authority = (name: string): string =>
  `caCertificateRefs: [{group: "", kind: ConfigMap, name: ${name}}]`;
const policy = (name: string, backend: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata(name)}, spec: {targetRefs: [{group: "", kind: Service, name: ${name}}], backend: {${backend}}}}`;
const gatewayBackend = (name: string, port: number, policies: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, ${metadata(name)}, spec: {static: {host: 127.0.0.1, port: ${port}}, policies: {${policies}}}}`;
const object = (kind: "Secret" | "ConfigMap", name: string, ...keys: readonly string[]): string =>
  `{apiVersion: v1, kind: ${kind}, ${metadata(name)}, data: {${keys.map((key) => `${key}: ''`)}}}`;

interface Backends {
  /** Names of Services and GatewayBackends; each is reached at `/NAME`. */
  readonly services?: readonly string[];
  readonly backends?: readonly string[];
}

/** A gateway whose routes `/NAME` lead to the backends of these names. */
function world(port: number, { services = [], backends = [] }: Backends): readonly string[] {
  const rule = (name: string, reference: string) =>
    `{matches: [{path: {value: /${name}}}], backendRefs: [{name: ${name}, ${reference}}]}`;
  const rules = [
    ...services.map((name) => rule(name, "port: 80")),
    ...backends.map((name) => rule(name, "group: gwc.dev, kind: GatewayBackend")),
  ];
  return [
    `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("gw")}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${port}, protocol: HTTP}]}}`,
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("r")}, spec: {parentRefs: [{name: gw}], rules: [${rules.join(", ")}]}}`,
  ];
}

/** Compiles manifests and runs the bundle with the files that its pods would mount. */
async function start(
  documents: (port: number) => readonly string[],
  mounts: Readonly<Record<string, string>>,
): Promise<Gateway> {
  const port = await freePort();
  const folder = temporaryFolder(mounts);
  return startGateway({
    config: documents(port).join("\n---\n"),
    folder,
    env: mountsIn(folder),
  });
}

const get = async (gateway: Gateway, path: string) => {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/${path}`);
  const text = await response.text();
  return { status: response.status, seen: text.startsWith("{") ? JSON.parse(text) : text };
};

it("TLS to Services: by BackendTLSPolicy, by GatewayPolicy, by appProtocol; the backend's own comes last", async () => {
  const certs = temporaryFolder();
  makeCertificate(certs, "ca");
  makeCertificate(certs, "other");
  makeCertificate(certs, "client", { signer: "ca" });
  makeCertificate(certs, "server", {
    signer: "ca",
    names: "DNS:backend.test,DNS:named.default.svc.cluster.local,URI:spiffe://test/backend",
  });
  const file = (name: string) => readFileSync(join(certs, name), "utf8");
  const port = await listen(
    createSecure(
      {
        cert: file("server.pem"),
        key: file("server.key"),
        ca: file("ca.pem"),
        requestCert: true,
        rejectUnauthorized: false,
      },
      tell,
    ),
  );
  const services = ["system", "trusted", "other", "uri", "no-uri", "section", "mutual", "named"];
  const gateway = await start(
    (own) => [
      ...world(own, { services, backends: ["own"] }),
      ...services.map((name) =>
        service(name, port, name === "system" ? "appProtocol: https" : "protocol: TCP"),
      ),
      tlsPolicy("trusted", `hostname: backend.test, ${authority("ca")}`),
      tlsPolicy("other", `hostname: backend.test, ${authority("other")}`),
      tlsPolicy(
        "uri",
        `hostname: else.test, ${authority("ca")}, subjectAltNames: [{type: URI, uri: "spiffe://test/backend"}]`,
      ),
      tlsPolicy(
        "no-uri",
        `hostname: backend.test, ${authority("ca")}, subjectAltNames: [{type: Hostname, hostname: else.test}]`,
      ),
      tlsPolicy("section", `hostname: backend.test, ${authority("ca")}`, ", sectionName: main"),
      policy("section", "tls: {caCertificateRefs: [{name: other}]}"),
      policy(
        "mutual",
        "tls: {mtlsCertificateRef: [{name: client}], caCertificateRefs: [{name: ca}], sni: backend.test}",
      ),
      policy("named", "tls: {mtlsCertificateRef: [{name: client}]}"),
      gatewayBackend("own", port, "tls: {insecureSkipVerify: All}"),
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("own")}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: own}], backend: {tls: {caCertificateRefs: [{name: other}]}}}}`,
      object("ConfigMap", "ca", "ca.crt"),
      object("ConfigMap", "other", "ca.crt"),
      object("Secret", "client", "tls.crt", "tls.key", "ca.cert"),
    ],
    {
      "config-maps/ca/ca.crt": file("ca.pem"),
      "config-maps/other/ca.crt": file("other.pem"),
      "secrets/client/tls.crt": file("client.pem"),
      "secrets/client/tls.key": file("client.key"),
      "secrets/client/ca.cert": file("ca.pem"),
    },
  );
  const statuses: Record<string, number> = {};
  for (const name of [...services, "own"]) statuses[name] = (await get(gateway, name)).status;
  expect(statuses).toEqual({
    system: 503,
    trusted: 200,
    other: 503,
    uri: 200,
    "no-uri": 503,
    section: 200,
    mutual: 200,
    named: 200,
    own: 200,
  });
  const seen = async (name: string) => (await get(gateway, name)).seen;
  expect(await seen("trusted")).toMatchObject({ sni: "backend.test" });
  expect(await seen("uri")).toMatchObject({ sni: "else.test" });
  expect(await seen("mutual")).toMatchObject({ sni: "backend.test", client: "client" });
  // Reached by an address, known by the Service's name; the Secret's own authorities are trusted.
  expect(await seen("named")).toMatchObject({
    sni: "named.default.svc.cluster.local",
    client: "client",
  });
});

it("credentials come from mounted Secrets, and follow them; times and versions hold", async () => {
  const plain = await listen(createServer(tell));
  const fast = await listen(createHttp2(tell as never));
  const slow = await listen(
    createServer(() => {
      // Never answers.
    }),
  );
  const gateway = await start(
    (own) => [
      ...world(own, { services: ["fast", "slow"], backends: ["token", "basic"] }),
      service("fast", fast, "appProtocol: kubernetes.io/h2c"),
      service("slow", slow),
      gatewayBackend("token", plain, "auth: {secretRef: {name: token}}"),
      gatewayBackend("basic", plain, "auth: {secretRef: {name: basic}}"),
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("all")}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], backend: {http: {requestTimeout: 5s}, tcp: {connectTimeout: 5s}}}}`,
      object("Secret", "token", "Authorization"),
      object("Secret", "basic", "Authorization"),
    ],
    {
      "secrets/token/Authorization": "first-token\n",
      "secrets/basic/Authorization": "Basic dTpw",
    },
  );
  expect(await get(gateway, "token")).toMatchObject({
    status: 200,
    seen: { version: "1.1", authorization: "Bearer first-token" },
  });
  expect((await get(gateway, "basic")).seen).toMatchObject({ authorization: "Basic dTpw" });
  expect(await get(gateway, "fast")).toMatchObject({ status: 200, seen: { version: "2.0" } });
  expect((await get(gateway, "slow")).status).toBe(504);
  writeFileSync(join(gateway.folder, "secrets/token/Authorization"), "second-token");
  const sent = async () => (await get(gateway, "token")).seen.authorization;
  await expect.poll(sent).toBe("Bearer second-token");
});

it("key sets and mirrors are reached as the policies on their Services say", async () => {
  const certs = temporaryFolder();
  makeCertificate(certs, "ca");
  makeCertificate(certs, "server", { signer: "ca", names: "DNS:keys.test" });
  const file = (name: string) => readFileSync(join(certs, name), "utf8");
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "a" }] });
  const copies: (string | undefined)[] = [];
  const secure = await listen(
    createSecure({ cert: file("server.pem"), key: file("server.key") }, (request, response) => {
      if (request.url === "/keys?a=b") response.end(keys);
      else response.end(String(copies.push(request.url)));
    }),
  );
  const plain = await listen(createServer(tell));
  const gateway = await start(
    (own) => [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("gw")}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${own}, protocol: HTTP}]}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("r")}, spec: {parentRefs: [{name: gw}], rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: secure, port: 80}}}], backendRefs: [{name: plain, port: 80}]}]}}`,
      service("secure", secure),
      service("plain", plain),
      tlsPolicy("secure", `hostname: keys.test, ${authority("ca")}`),
      object("ConfigMap", "ca", "ca.crt"),
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, ${metadata("p")}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {jwtAuthentication: {providers: [{issuer: "https://a.test", jwks: {remote: {jwksPath: "keys?a=b", backendRef: {name: secure, port: 80}}}}]}}}}`,
    ],
    { "config-maps/ca/ca.crt": file("ca.pem") },
  );
  const token = await new SignJWT({ sub: "u" })
    .setProtectedHeader({ alg: "ES256", kid: "a" })
    .setIssuer("https://a.test")
    .setExpirationTime("5m")
    .sign(privateKey);
  const response = await fetch(`http://127.0.0.1:${gateway.port}/x`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status, gateway.output).toBe(200);
  expect((await get(gateway, "x")).status).toBe(401);
  await expect.poll(() => copies).toEqual(["/x"]);
});

it("several addresses of a Service share what the Service gets", async () => {
  const ports = [await listen(createServer(tell)), await listen(createServer(tell))];
  const [first = 0, second = 0] = ports;
  const checked = checkManifests(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, ${metadata("gw")}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 80, protocol: HTTP}]}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, ${metadata("r")}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: two, port: 80, weight: 3}, {name: one, port: 80, weight: 5}, {name: pods, port: 80}]}]}}`,
      service("two", first),
      slice("two", second, "2"),
      service("one", first),
      service("pods", first).replace(
        "kubernetes.io/service-name: pods",
        "kubernetes.io/service-name: pods, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io",
      ),
    ].join("\n---\n"),
  );
  expect(complaints(checked)).toEqual([]);
  const [route] = checked.program?.binds[0]?.listeners[0]?.routes ?? [];
  const shares = route?.backends.map((each) =>
    each.kind === "host" ? [each.url, each.weight] : [],
  );
  expect(shares).toEqual([
    ...[first, second].toSorted().map((port) => [`http://127.0.0.1:${port}`, 3]),
    [`http://127.0.0.1:${first}`, 10],
    ["http://pods.default.svc.cluster.local:80", 2],
  ]);
});

describe("what can't be meant", () => {
  const base = world(80, { services: ["web"] });
  const web = `{apiVersion: v1, kind: Service, ${metadata("web")}, spec: {ports: [{name: main, port: 80}]}}`;
  it.each([
    {
      what: "a BackendTLSPolicy whose CA bundle is missing",
      documents: [tlsPolicy("web", `hostname: a.test, ${authority("no")}`)],
      said: ['missing-reference: there is no ConfigMap "default/no"'],
    },
    {
      what: "a CA bundle of another kind",
      documents: [
        tlsPolicy(
          "web",
          "hostname: a.test, caCertificateRefs: [{group: '', kind: Secret, name: s}]",
        ),
        object("Secret", "s", "ca.crt"),
      ],
      said: ["wrong-reference-kind: a reference to a Secret is not allowed here"],
    },
    {
      what: "a CA bundle without certificates",
      documents: [
        tlsPolicy("web", `hostname: a.test, ${authority("ca")}`),
        object("ConfigMap", "ca", "other"),
      ],
      said: ['missing-key: ConfigMap "default/ca" has no key "ca.crt"'],
    },
    {
      what: "a BackendTLSPolicy on a port that is not there",
      documents: [
        tlsPolicy("web", "hostname: a.test, wellKnownCACertificates: System", ", sectionName: no"),
      ],
      said: ['missing-section: Service "default/web" has no "no"'],
    },
    {
      what: "a BackendTLSPolicy with an older GatewayPolicy of the same Service",
      documents: [
        tlsPolicy("web", "hostname: a.test, wellKnownCACertificates: System"),
        policy("web, creationTimestamp: '2024-01-01T00:00:00Z'", "tls: {sni: b.test}").replace(
          "name: web, creationTimestamp: '2024-01-01T00:00:00Z'}], backend",
          "name: web}], backend",
        ),
      ],
      said: [
        'policy-conflict: "tls" has no effect on the backend: GatewayPolicy "default/web" also sets it and has precedence',
      ],
    },
    {
      what: "a key that is written out",
      documents: [policy("web", "auth: {key: abc}")],
      said: [
        'literal-secret: "key" looks like a secret: a bundle reads it from the variable GWC_GATEWAYPOLICY_DEFAULT_WEB_SPEC_BACKEND_AUTH_KEY instead',
      ],
    },
    {
      what: "credentials of AWS for a Service of the cluster's own",
      documents: [policy("web", "auth: {aws: {}}")],
      said: [
        "unknown-aws-scope: the AWS region cannot be derived from the host of this backend",
        "unknown-aws-scope: the AWS service cannot be derived from the host of this backend",
      ],
    },
    {
      what: "a protocol of ALPN that only connections speak",
      documents: [policy("web", "tls: {alpnProtocols: [h2, spdy]}")],
      said: [
        'misplaced-field: "spdy" applies to connections, and there are only HTTP requests here',
      ],
    },
    {
      what: "HTTP/1.1 over ALPN that does not offer it",
      documents: [policy("web", "tls: {alpnProtocols: [h2]}, http: {version: HTTP1}")],
      said: ['alpn-version: HTTP1 requires "http/1.1" in alpn'],
    },
    {
      what: "a Secret without the credential",
      documents: [
        policy("web", "auth: {secretRef: {name: s}}"),
        object("Secret", "s", "authorization"),
      ],
      said: ['missing-key: Secret "default/s" has no key "Authorization"'],
    },
  ])("$what", ({ documents, said }) => {
    const checked = checkManifests([...base, web, ...documents].join("\n---\n"));
    expect(complaints(checked).map((line) => line.replace(/^\d+ /, ""))).toEqual(said);
  });
});
