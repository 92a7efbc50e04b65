import { readFileSync } from "node:fs";
import { createServer, request } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import type { Condition } from "../../compiler/status/conditions.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests } from "./manifests.ts";

interface GatewayStatus {
  readonly conditions: readonly Condition[];
  readonly listeners: readonly {
    readonly name: string;
    readonly conditions: readonly Condition[];
  }[];
}

function statusesOf(manifests: readonly string[]): ReadonlyMap<string, GatewayStatus> {
  const checked = checkManifests(manifests.join("\n---\n"));
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  return new Map(
    statusOf(checked, checked.kubernetes).map(({ kind, metadata, status }) => [
      `${kind} ${metadata.name}`,
      // The shape that the Gateway API gives statuses.
      status as GatewayStatus,
    ]),
  );
}

/** `Accepted=True Accepted`, for each condition of these types. */
function brief(
  conditions: readonly Condition[] = [],
  types: readonly string[] = ["Accepted", "ResolvedRefs", "Programmed"],
): readonly string[] {
  return conditions
    .filter(({ type }) => types.includes(type))
    .map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

const gateway = (name: string, listeners: readonly string[], tls: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: ${name}}
spec:
  gatewayClassName: gwc
  allowedListeners: {namespaces: {from: Same}}
  listeners: [${listeners.join(", ")}]
  tls: ${tls}`;
const http = (port: number) => `{name: http, port: ${port}, protocol: HTTP}`;
const https = (name: string, port: number) =>
  `{name: ${name}, port: ${port}, protocol: HTTPS, tls: {certificateRefs: [{name: site}]}}`;
const data = (kind: string, name: string, namespace: string, ...keys: readonly string[]) =>
  `{apiVersion: v1, kind: ${kind}, metadata: {name: ${name}, namespace: ${namespace}}, data: {${keys.map((key) => `${key}: ''`)}}}`;
const objects = [
  data("ConfigMap", "ca", "default", "ca.crt"),
  data("ConfigMap", "keyless", "default", "other.crt"),
  data("ConfigMap", "broken", "default").replace("data: {}", "data: {ca.crt: garbage}"),
  data("ConfigMap", "granted", "open", "ca.crt"),
  data("ConfigMap", "private", "closed", "ca.crt"),
  data("Secret", "site", "default", "tls.crt", "tls.key"),
  data("Secret", "own", "default", "tls.crt", "tls.key"),
  data("Secret", "keyless", "default").replace("data: {}", "data: {}, type: Opaque"),
  data("Secret", "private", "closed", "tls.crt", "tls.key"),
  `
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: gateways, namespace: open}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: default}]
  to: [{group: "", kind: ConfigMap}]`,
];
const ca = (name: string, rest = "") => `{group: "", kind: ConfigMap, name: ${name}${rest}}`;
const validation = (...references: readonly string[]) =>
  `{validation: {caCertificateRefs: [${references}]}}`;

const served = [
  "Accepted=True Accepted",
  "ResolvedRefs=True ResolvedRefs",
  "Programmed=True Programmed",
];
const closed = (reason: string) => [
  "Accepted=False NoValidCACertificate",
  `ResolvedRefs=False ${reason}`,
  "Programmed=False Invalid",
];

it.each<[string, readonly string[], readonly string[]]>([
  ["an authority that is there", [ca("ca")], served],
  ["one that is not there", [ca("nowhere")], closed("InvalidCACertificateRef")],
  ["a ConfigMap without ca.crt", [ca("keyless")], closed("InvalidCACertificateRef")],
  ["a ConfigMap without a certificate", [ca("broken")], closed("InvalidCACertificateRef")],
  ["another kind", ["{group: '', kind: Service, name: web}"], closed("InvalidCACertificateKind")],
  [
    "another group",
    ["{group: a.b, kind: ConfigMap, name: ca}"],
    closed("InvalidCACertificateKind"),
  ],
  [
    "one of a namespace that grants nothing",
    [ca("private", ", namespace: closed")],
    closed("RefNotPermitted"),
  ],
  [
    "two of which one is not there",
    [ca("nowhere"), ca("ca")],
    [
      "Accepted=True Accepted",
      "ResolvedRefs=False InvalidCACertificateRef",
      "Programmed=True Programmed",
    ],
  ],
  ["two of which none is there", [ca("nowhere"), ca("keyless")], closed("InvalidCACertificateRef")],
])("authorities of client certificates: %s", (_what, references, expected) => {
  const tls = `{frontend: {default: ${validation(...references)}, perPort: [{port: 9443, tls: ${validation(ca("ca"))}}]}}`;
  const set = `
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: set}
spec: {parentRef: {name: gw}, listeners: [${https("added", 7443)}]}`;
  const statuses = statusesOf([
    gateway("gw", [http(80), https("default", 443), https("own-port", 9443)], tls),
    set,
    ...objects,
  ]);
  const found = statuses.get("Gateway gw");
  const of = Object.fromEntries(
    (found?.listeners ?? []).map(({ name, conditions }) => [name, brief(conditions)]),
  );
  expect(of).toEqual({ http: served, default: expected, "own-port": served });
  // The Gateway serves its other listeners and reports the missing ones.
  const isServed = expected[0] === served[0];
  const isResolved = expected[1] === served[1];
  expect(brief(found?.conditions)).toEqual([
    `Accepted=True ${isServed ? "Accepted" : "ListenersNotValid"}`,
    "Programmed=True Programmed",
    `ResolvedRefs=${isResolved ? "True ResolvedRefs" : "False ListenersNotResolved"}`,
  ]);
  expect(brief(statuses.get("ListenerSet set")?.listeners[0]?.conditions)).toEqual(expected);
});

it("a Gateway of which no listener has an authority is not accepted", () => {
  const tls = `{frontend: {default: ${validation(ca("nowhere"))}}}`;
  const found = statusesOf([gateway("gw", [https("a", 443)], tls), ...objects]).get("Gateway gw");
  expect(brief(found?.conditions)).toEqual([
    "Accepted=False ListenersNotValid",
    "Programmed=False Invalid",
    "ResolvedRefs=False ListenersNotResolved",
  ]);
  expect(found?.listeners[0]?.conditions[0]?.message).toContain(
    'spec.tls.frontend.default.validation.caCertificateRefs[0].name: there is no ConfigMap "default/nowhere"',
  );
});

it("a Gateway that admits clients without a valid certificate reports it", () => {
  const types = ["InsecureFrontendValidationMode"];
  const of = (tls: string) =>
    brief(
      statusesOf([gateway("gw", [https("a", 443)], tls), ...objects]).get("Gateway gw")?.conditions,
      types,
    );
  const mode = (value: string) => validation(ca("ca")).replace("{caC", `{mode: ${value}, caC`);
  const insecure = ["InsecureFrontendValidationMode=True ConfigurationChanged"];
  expect(of(`{frontend: {default: ${mode("AllowInsecureFallback")}}}`)).toEqual(insecure);
  const port = (value: string) =>
    `{frontend: {default: {}, perPort: [{port: 443, tls: ${mode(value)}}]}}`;
  expect(of(port("AllowInsecureFallback"))).toEqual(insecure);
  expect(of(port("AllowValidOnly"))).toEqual([]);
});

it.each([
  ["that is there", "name: own", "True ResolvedRefs"],
  ["that is not there", "name: nowhere", "False InvalidClientCertificateRef"],
  ["of another group", "group: a.b, kind: Secret, name: own", "False InvalidClientCertificateRef"],
  ["of another kind", 'group: "", kind: Other, name: own', "False InvalidClientCertificateRef"],
  ["without its keys", "name: keyless", "False InvalidClientCertificateRef"],
  [
    "of a namespace that grants nothing",
    "name: private, namespace: closed",
    "False RefNotPermitted",
  ],
])("a certificate for backends %s", (_what, reference, expected) => {
  const tls = `{backend: {clientCertificateRef: {${reference}}}}`;
  const found = statusesOf([gateway("gw", [http(80)], tls), ...objects]).get("Gateway gw");
  expect(brief(found?.conditions)).toEqual([
    "Accepted=True Accepted",
    "Programmed=True Programmed",
    `ResolvedRefs=${expected}`,
  ]);
  expect(brief(found?.listeners[0]?.conditions)).toEqual(served);
});

const route = (name: string, path: string, port: number) => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ${name}}
spec:
  parentRefs: [{name: gw}]
  rules: [{matches: [{path: {value: ${path}}}], backendRefs: [{name: ${name}, port: ${port}}]}]`;
const service = (name: string, port: number, rest = "") => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {ports: [{name: main, port: ${port}${rest}}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${name}-1, labels: {kubernetes.io/service-name: ${name}}}
addressType: IPv4
endpoints: [{addresses: [127.0.0.1]}]
ports: [{name: main, port: ${port}}]`;

function certificates(): { readonly mounted: string; readonly file: (name: string) => Buffer } {
  const folder = temporaryFolder();
  for (const name of ["ca", "site"]) makeCertificate(folder, name);
  makeCertificate(folder, "client", { signer: "ca" });
  makeCertificate(folder, "stranger");
  makeCertificate(folder, "server", { signer: "ca", names: "DNS:backend.test" });
  const file = (name: string) => readFileSync(join(folder, name));
  const text = (name: string) => file(name).toString();
  const mounted = temporaryFolder({
    "config-maps/ca/ca.crt": text("ca.pem"),
    "secrets/site/tls.crt": text("site.pem"),
    "secrets/site/tls.key": text("site.key"),
  });
  return { mounted, file };
}

function ask(port: number, shown: object = {}): Promise<number | "refused"> {
  return new Promise((resolve) => {
    const options = { port, host: "127.0.0.1", path: "/plain", agent: false };
    const asked = request({ ...options, rejectUnauthorized: false, ...shown }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    onTestFinished(() => {
      asked.destroy();
    });
    asked.on("error", () => resolve("refused"));
    asked.end();
  });
}

it("a listener without a valid authority is closed, and the others are served with the authorities they have", async () => {
  const { mounted, file } = certificates();
  const upstream = Number(new URL(await startUpstream((_, response) => response.end("ok"))).port);
  const [plain, lost, partial] = [await freePort(), await freePort(), await freePort()];
  const tls = `{frontend: {default: ${validation(ca("nowhere"))}, perPort: [{port: ${partial}, tls: ${validation(ca("nowhere"), ca("ca"))}}]}}`;
  await startIsolated(
    [
      gateway("gw", [http(plain), https("lost", lost), https("partial", partial)], tls),
      route("plain", "/plain", upstream),
      service("plain", upstream),
      ...objects,
    ].join("\n---\n"),
    mounted,
  );
  expect((await send(`http://127.0.0.1:${plain}/plain`, "GET")).status).toBe(200);
  const shown = (name: string) => ({ cert: file(`${name}.pem`), key: file(`${name}.key`) });
  expect(await ask(lost)).toBe("refused");
  expect(await ask(lost, shown("client"))).toBe("refused");
  expect(await ask(partial)).toBe("refused");
  expect(await ask(partial, shown("stranger"))).toBe("refused");
  expect(await ask(partial, shown("client"))).toBe(200);
});

it("without the certificate that backends are to be shown, the routes to them are closed, and no others", async () => {
  const { mounted, file } = certificates();
  const port = Number(new URL(await startUpstream((_, response) => response.end("ok"))).port);
  const seen: string[] = [];
  const secure = await listen(
    createServer({ cert: file("server.pem"), key: file("server.key") }, (asked, response) => {
      seen.push(String((asked.socket as TLSSocket).getPeerCertificate().subject?.CN));
      response.end();
    }),
  );
  const policy = `
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: secure}
spec:
  targetRefs: [{group: "", kind: Service, name: secure}]
  validation: {hostname: backend.test, caCertificateRefs: [${ca("ca")}]}`;
  const own = await freePort();
  const manifests = (reference: string) =>
    [
      gateway("gw", [http(own)], `{backend: {clientCertificateRef: {name: ${reference}}}}`),
      ...[route("plain", "/plain", port), service("plain", port)],
      ...[route("secure", "/secure", secure), service("secure", secure, ", appProtocol: https")],
      ...[policy, ...objects],
    ].join("\n---\n");
  const broken = await startIsolated(manifests("nowhere"), mounted);
  const status = async (target: string) =>
    (await send(`http://127.0.0.1:${own}${target}`, "GET")).status;
  expect([await status("/plain"), await status("/secure")]).toEqual([200, 500]);
  expect(seen).toEqual([]);
  await broken.stop();
  await startIsolated(manifests("site"), mounted);
  expect([await status("/plain"), await status("/secure")]).toEqual([200, 200]);
});
