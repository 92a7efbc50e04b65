import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createSecure } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { mountsIn } from "../harness/mounts.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { checkManifests, complaints } from "./manifests.ts";

const run = promisify(execFile);

const gatewayOf = (listeners: string, tls: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [${listeners}], ${tls}}`;
const https = (name: string, port: number, rest = "") =>
  `{name: ${name}, port: ${port}, protocol: HTTPS, tls: {certificateRefs: [{name: site}]${rest}}}`;
const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: web, port: 443}]}]}`;
const service = (port: number) => `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: main, port: 443, appProtocol: https}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [127.0.0.1]}]
ports: [{name: main, port: ${port}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: web}
spec:
  targetRefs: [{group: "", kind: Service, name: web}]
  validation:
    hostname: backend.test
    caCertificateRefs: [{group: "", kind: ConfigMap, name: other}, {group: "", kind: ConfigMap, name: ca}]`;
const rules = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: rules}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  traffic:
    transformation: {response: {set: [{name: x-client, value: source.subjectCn}]}}`;
const data = (kind: string, name: string, ...keys: readonly string[]) =>
  `{apiVersion: v1, kind: ${kind}, metadata: {name: ${name}}, data: {${keys.map((key) => `${key}: ''`)}}}`;
const objects = [
  data("ConfigMap", "ca", "ca.crt"),
  data("ConfigMap", "other", "ca.crt"),
  data("Secret", "site", "tls.crt", "tls.key"),
  data("Secret", "own", "tls.crt", "tls.key"),
];

it("a port asks curl for a certificate as the Gateway says of it, and shows backends one of its own", async () => {
  const certs = temporaryFolder();
  for (const name of ["ca", "other", "site"]) makeCertificate(certs, name);
  for (const name of ["client", "own"]) makeCertificate(certs, name, { signer: "ca" });
  makeCertificate(certs, "second", { signer: "other" });
  makeCertificate(certs, "stranger");
  makeCertificate(certs, "server", { signer: "ca", names: "DNS:backend.test" });
  const file = (name: string) => readFileSync(join(certs, name), "utf8");
  const backend = await listen(
    createSecure(
      { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem"), requestCert: true },
      (request, response) =>
        response.end(
          `backend saw ${(request.socket as TLSSocket).getPeerCertificate().subject.CN}`,
        ),
    ),
  );
  const [strict, lenient, listed] = [await freePort(), await freePort(), await freePort()];
  const folder = temporaryFolder({
    "config-maps/ca/ca.crt": file("ca.pem"),
    "config-maps/other/ca.crt": file("other.pem"),
    "secrets/site/tls.crt": file("site.pem"),
    "secrets/site/tls.key": file("site.key"),
    "secrets/own/tls.crt": file("own.pem"),
    "secrets/own/tls.key": file("own.key"),
  });
  const ca = (name: string) => `{kind: ConfigMap, group: "", name: ${name}}`;
  const frontend = `{
    default: {validation: {caCertificateRefs: [${ca("ca")}, ${ca("other")}]}},
    perPort: [{port: ${lenient}, tls: {validation: {caCertificateRefs: [${ca("ca")}], mode: AllowInsecureFallback}}}]}`;
  const own = `, frontendValidation: {caCertificateRefs: [${ca("other")}]}`;
  const listeners = [https("a", strict), https("b", lenient), https("c", listed, own)];
  await startGateway({
    config: [
      gatewayOf(
        listeners.join(", "),
        `tls: {frontend: ${frontend}, backend: {clientCertificateRef: {name: own}}}`,
      ),
      ...[route, rules, service(backend), ...objects],
    ].join("\n---\n"),
    folder,
    env: mountsIn(folder),
  });
  /** Returns the client's identity at the gateway; `undefined` if there was no connection. */
  const curl = async (port: number, name?: string) => {
    const shown = name === undefined ? [] : ["--cert", `${name}.pem`, "--key", `${name}.key`];
    const sent = await run(program("curl"), ["-sik", ...shown, `https://127.0.0.1:${port}/`], {
      cwd: certs,
    }).catch(() => undefined);
    if (sent === undefined) return "refused";
    expect(sent.stdout).toContain("backend saw own");
    return /x-client: (.*)\r/.exec(sent.stdout)?.[1] ?? "nobody";
  };
  const seen: Record<string, readonly string[]> = {};
  for (const [name, port] of Object.entries({ strict, lenient, listed })) {
    const found = [];
    for (const shown of ["client", "second", "stranger", undefined])
      found.push(await curl(port, shown));
    seen[name] = found;
  }
  expect(seen).toEqual({
    strict: ["client", "second", "refused", "refused"],
    lenient: ["client", "nobody", "nobody", "nobody"],
    listed: ["refused", "second", "refused", "refused"],
  });
});

it.each([
  [
    "validation of clients without terminated TLS",
    "{name: a, port: 8080, protocol: HTTP}",
    "tls: {frontend: {default: {validation: {caCertificateRefs: [{name: ca}]}}}}",
    /misplaced-field: "validation"/,
  ],
  [
    "validation of a port that nobody listens on",
    https("a", 8443),
    "tls: {frontend: {default: {}, perPort: [{port: 9443, tls: {validation: {caCertificateRefs: [{name: ca}]}}}]}}",
    /misplaced-field: "validation"/,
  ],
  [
    "authorities that are not there",
    https("a", 8443),
    "tls: {frontend: {default: {validation: {caCertificateRefs: [{name: nowhere}]}}}}",
    /missing-reference: .*nowhere/,
  ],
  [
    "authorities of another namespace, which no grant names",
    https("a", 8443),
    "tls: {frontend: {default: {validation: {caCertificateRefs: [{name: ca, namespace: team}]}}}}",
    /missing-reference: .*team\/ca/,
  ],
  [
    "another mode",
    https("a", 8443),
    "tls: {frontend: {default: {validation: {caCertificateRefs: [{name: ca}], mode: Maybe}}}}",
    /unknown-value: "mode"/,
  ],
])("%s: a mistake", (_what, listener, tls, expected) => {
  const found = complaints(checkManifests([gatewayOf(listener, tls), ...objects].join("\n---\n")));
  expect(found.filter((each) => !each.includes("unused"))).toEqual([
    expect.stringMatching(expected),
  ]);
});

it("a certificate that no backend uses is reported", () => {
  const tls = "tls: {backend: {clientCertificateRef: {name: own}}}";
  const gateway = gatewayOf("{name: a, port: 8080, protocol: HTTP}", tls);
  expect(complaints(checkManifests([gateway, ...objects].join("\n---\n")))).toEqual([
    expect.stringMatching(/policy-without-effect: "clientCertificateRef" of Gateway/),
  ]);
});
