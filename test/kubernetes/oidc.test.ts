import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { CLIENT_SECRET, startLoginProvider } from "../harness/login-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { gatewayManifest } from "./gateway-manifest.ts";

/** A provider, and a Gateway whose policy has browsers log in there, with the secret that its pods would mount. */
async function startWorld() {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const provider = await startLoginProvider(() => [
    { id: "app", redirectUri: `${base}/callback`, loggedOutUri: `${base}/` },
  ]);
  const upstream = new URL((await startEcho()).url);
  const reference = "{group: gwc.dev, kind: GatewayBackend, name: app}";
  const login = `{issuer: "${provider.issuer}", clientId: app, clientSecretRef: {name: login}, redirectURI: "${base}/callback", scopes: [email], logout: {path: /logout, redirectURI: "${base}/"}}`;
  const rules = "{policy: {matchExpressions: ['jwt.sub == \"alice\"']}}";
  const manifests = [
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [${reference}]}]}}`,
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: app}, spec: {static: {host: 127.0.0.1, port: ${upstream.port}}}}`,
    "{apiVersion: v1, kind: Secret, metadata: {name: login}, data: {clientSecret: ''}}",
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {oidc: ${login}, authorization: ${rules}}}}`,
  ];
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "secrets/login"), { recursive: true });
  writeFileSync(path.join(folder, "secrets/login/clientSecret"), CLIENT_SECRET);
  const gateway = await startGateway({
    config: gatewayManifest(port) + manifests.join("\n---\n"),
    folder,
    env: { GWC_SECRETS_DIR: path.join(folder, "secrets") },
  });
  return { base, provider, gateway };
}

it("a policy of a route has browsers log in, lets in who may, and logs them out", async () => {
  const { base, provider, gateway } = await startWorld();
  const alice = new UserAgent();
  expect((await alice.ask(`${base}/a`, { headers: { accept: "*/*" } })).status).toBe(401);
  const page = await alice.logIn(`${base}/a?x=1`, "alice");
  expect(page).toMatchObject({ status: 200, url: `${base}/a?x=1` });
  const bob = await new UserAgent().logIn(`${base}/a`, "bob");
  expect(bob.status).toBe(403);
  const asked = await alice.ask(`${base}/logout`);
  expect(new URL(asked.location ?? "").origin).toBe(provider.issuer);
  expect(alice.cookies(base).size).toBe(0);
  expect(gateway.output).not.toContain(CLIENT_SECRET);
});
