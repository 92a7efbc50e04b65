import { beforeAll, expect, it } from "vitest";
import { call, callWith } from "../harness/call.ts";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "./manifests.ts";

let provider: IdentityProvider;
let gateway: Gateway;
let upstream: string;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  upstream = await startUpstream((_, response) => response.end("web"));
  gateway = await startIsolated(await manifests(""));
});

const backend = (name: string, spec: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {${spec}}}`;
const rule = (path: string): string =>
  `{matches: [{path: {value: /${path}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${path}}]}`;
const authorities = "{name: issuer, group: gwc.dev, kind: GatewayBackend}";
const issuerOf = (issuer: string): string =>
  `{issuer: "${issuer}", jwks: {remote: {backendRef: ${authorities}, jwksPath: /jwks}}}`;

/** A Gateway with an MCP server and a web server behind it, and a policy on the Gateway. */
async function manifests(
  more: string,
  { providers = issuerOf(provider.issuer), phase = "" } = {},
): Promise<string> {
  const { host, port } = { host: "127.0.0.1", port: new URL(upstream).port };
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: all}
spec: {parentRefs: [{name: gw}], rules: [${rule("mcp")}, ${rule("web")}]}
---
${backend("mcp", `mcp: {targets: [{name: tools, static: {host: ${host}, port: ${port}}}]}`)}
---
${backend("web", `static: {host: ${host}, port: ${port}}`)}
---
${backend("issuer", `static: {host: ${host}, port: ${new URL(provider.issuer).port}}`)}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: tokens}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  traffic:
    ${phase}
    jwtAuthentication:
      providers: [${providers}]
      mcp: {resourceMetadata: {scopesSupported: [use]}}
${more}`;
}

it("MCP clients learn from a refusal where the metadata is, and read it without a token", async () => {
  const { status, headers } = await call(`${gateway.url}/mcp`, {});
  expect(status).toBe(401);
  const metadata = `${gateway.url}/.well-known/oauth-protected-resource/mcp`;
  expect(headers["www-authenticate"]).toBe(`Bearer scope="use", resource_metadata="${metadata}"`);
  const { body } = await call(metadata, {});
  expect(JSON.parse(body)).toMatchObject({
    resource: `${gateway.url}/mcp`,
    authorization_servers: [provider.issuer],
    scopes_supported: ["use"],
  });
});

it("a token of the issuer is accepted on both kinds of routes, and no other", async () => {
  const token = await provider.token();
  // After the check, the MCP endpoint refuses a GET that accepts no event stream.
  expect((await callWith(`${gateway.url}/mcp`, token)).status).toBe(406);
  expect((await callWith(`${gateway.url}/web`, token)).status).toBe(200);
  expect((await callWith(`${gateway.url}/mcp`, "abc")).status).toBe(401);
  expect((await callWith(`${gateway.url}/web`, "abc")).status).toBe(401);
});

it("a route of other servers only checks tokens", async () => {
  const { status, headers } = await call(`${gateway.url}/web`, {});
  expect(status).toBe(401);
  expect(headers["www-authenticate"]).not.toContain("resource_metadata");
});

it.each([
  [
    "several issuers",
    { providers: `${issuerOf("https://a.test")}, ${issuerOf("https://b.test")}` },
  ],
  ["a check before routing", { phase: "phase: PreRouting" }],
])("metadata of %s is a mistake", async (_, part) => {
  const found = complaints(checkManifests(await manifests("", part)));
  expect(found.join("\n")).toMatch(/bad-format: "providers"|misplaced-field: "mcp"/);
});

it("metadata of a route that checks the token twice is a mistake", async () => {
  const policy = `---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: twice}
spec:
  targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: mcp}]
  backend: {mcp: {authentication: {issuer: "${provider.issuer}", jwks: {jwksPath: /jwks, backendRef: ${authorities}}}}}
`;
  const found = complaints(checkManifests(await manifests(policy)));
  expect(found.join("\n")).toContain("two-token-checks");
});
