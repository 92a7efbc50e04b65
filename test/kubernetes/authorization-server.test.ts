import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { decodeJwt } from "jose";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { CLIENT_SECRET, startLoginProvider } from "../harness/login-provider.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { UserAgent } from "../harness/user-agent.ts";
import {
  allow,
  authorizeUrl,
  freshPkce,
  LOOPBACK,
  register,
  requestTokens,
} from "../policies/front-world.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

const reference = (name: string) => `{group: gwc.dev, kind: GatewayBackend, name: ${name}}`;
const backend = (name: string, spec: string) =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {${spec}}}`;

/** Manifests of an MCP route whose clients register at the gateway. */
function manifests(port: number, issuer: string, tools: number, server: string): string {
  const { port: providerPort } = new URL(issuer);
  const resource = `http://127.0.0.1:${port}/mcp`;
  const keys = `{backendRef: ${reference("provider")}, jwksPath: /jwks}`;
  const authentication = `{issuer: "${issuer}", audiences: ["${resource}"], jwks: ${keys}, resourceMetadata: {scopesSupported: [use]}, clientId: gateway, clientSecretRef: {name: client}, authorizationServer: ${server}}`;
  const all = [
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {type: Exact, value: /mcp}}], backendRefs: [${reference("tools")}]}]}}`,
    backend("tools", `mcp: {targets: [{name: t, static: {host: 127.0.0.1, port: ${tools}}}]}`),
    backend("provider", `static: {host: 127.0.0.1, port: ${providerPort}}`),
    "{apiVersion: v1, kind: Secret, metadata: {name: client}, data: {clientSecret: ''}}",
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], backend: {mcp: {authentication: ${authentication}}}}}`,
  ];
  return gatewayManifest(port) + all.join("\n---\n");
}

it("clients of a route of manifests register at the gateway, with the secret that its pods mount", async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const world = { base, url: `${base}/oauth`, resource: `${base}/mcp` };
  const client = { id: "gateway", redirectUri: `${world.url}/callback` };
  const provider = await startLoginProvider(() => [client], world.resource);
  const tools = await startMcpServer();
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "secrets/client"), { recursive: true });
  writeFileSync(path.join(folder, "secrets/client/clientSecret"), CLIENT_SECRET);
  const server = `{url: "${world.url}", redirectURIs: ["http://127.0.0.1/*"], registrationLifetime: 1h}`;
  await startGateway({
    config: manifests(port, provider.issuer, tools.port, server),
    folder,
    env: { GWC_SECRETS_DIR: path.join(folder, "secrets") },
  });
  const { id, status } = await register(world, { redirect_uris: [LOOPBACK] });
  expect(status).toBe(201);
  const pkce = freshPkce();
  const returned = await allow(new UserAgent(), world, authorizeUrl(world, id, pkce), "ann");
  const { tokens } = await requestTokens(world, {
    grant_type: "authorization_code",
    code: returned.searchParams.get("code") ?? "",
    client_id: id,
    redirect_uri: LOOPBACK,
    code_verifier: pkce.verifier,
  });
  expect(decodeJwt(String(tokens.access_token))).toMatchObject({ sub: "ann" });
});

it("mistakes in manifests are reported at their fields", () => {
  const server = `{url: "http://a.test/oauth", redirectURIs: ["http://a.test/*"]}`;
  const found = complaints(checkManifests(manifests(80, "https://a.test:1", 1, server))).join("\n");
  expect(found).toMatch(/"url" must be a URL with https/);
  expect(found).toMatch(/a redirect URI must be a URI in the form that clients send/);
});
