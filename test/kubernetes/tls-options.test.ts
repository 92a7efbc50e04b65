import { readFileSync } from "node:fs";
import path from "node:path";
import { connect, type SecureVersion } from "node:tls";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests, complaints } from "./manifests.ts";

function manifests(port: number, backend: number, options: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  listeners:
    - {name: a, port: ${port}, protocol: HTTPS, tls: {certificateRefs: [{name: cert}], options: {${options}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: 127.0.0.1, port: ${backend}}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: cert}, type: kubernetes.io/tls}
`;
}

/** Returns the version that a client with only this version negotiates; the code of the error if none. */
function negotiated(port: number, version: SecureVersion): Promise<string | null> {
  return new Promise((resolve) => {
    const versions = { minVersion: version, maxVersion: version };
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...versions });
    socket.on("secureConnect", () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on("error", () => resolve("refused"));
  });
}

it("a listener's options set its TLS versions", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "localhost");
  const [cert, key] = ["pem", "key"].map((end) =>
    readFileSync(path.join(folder, `localhost.${end}`), "utf8"),
  );
  const echo = await startEcho();
  const backend = Number(new URL(echo.url).port);
  const [newer, older] = [await freePort(), await freePort()];
  const secrets = temporaryFolder({ "cert/tls.crt": cert ?? "", "cert/tls.key": key ?? "" });
  const env = { GWC_SECRETS_DIR: secrets };
  const min = "gwc.dev/min-tls-version: '1.3'";
  await startGateway({ config: manifests(newer, backend, min), env });
  const max = "gwc.dev/max-tls-version: '1.2'";
  await startGateway({ config: manifests(older, backend, max), env });
  expect(await negotiated(newer, "TLSv1.3")).toBe("TLSv1.3");
  expect(await negotiated(newer, "TLSv1.2")).toBe("refused");
  expect(await negotiated(older, "TLSv1.2")).toBe("TLSv1.2");
  expect(await negotiated(older, "TLSv1.3")).toBe("refused");
});

it("options that cannot be built are mistakes with an alternative", () => {
  const found = (options: string) =>
    complaints(checkManifests(manifests(8443, 80, options))).join();
  expect(found("gwc.dev/min-tls-version: '1.3'")).toBe("");
  expect(found("agentgateway.dev/tls-certificate-source: DYNAMIC_CA")).toContain("not-built-yet");
  expect(found("agentgateway.dev/verify-subject-alt-names: a.test")).toContain("not-built-yet");
  expect(found("agentgateway.dev/verify-certificate-hash: '00'")).toContain("not-built-yet");
  expect(found("gwc.dev/min-tls-version: '1.1'")).toContain("unknown-value");
  expect(found("gwc.dev/min-tls: '1.3'")).toContain("unknown-field");
});
