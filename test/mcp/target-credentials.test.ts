import { describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { messagesOf, openSession, post, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { as, issuer, keySet } from "./subjects.ts";

const client = as("ada");

/** MCP servers that each accept their own credential: a key, another key, the client's token, none. */
const expected = {
  keyed: "Bearer key-of-one",
  other: "Bearer key-of-two",
  passed: client.authorization,
  open: undefined,
} as const;

const answering = mcpResponses({
  "tools/list": '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}',
  "tools/call": '{"content":[{"type":"text","text":"called"}]}',
});

function serverOf(credential: string | undefined): Promise<RawUpstream> {
  return startUpstream((response, request, message) => {
    if (request.headers.authorization === credential) answering(response, request, message);
    else response.writeHead(401).end();
  });
}

async function fromFile(urls: Record<keyof typeof expected, string>): Promise<Gateway> {
  const policies = {
    keyed: { backendAuth: { key: "${KEY_ONE}" } },
    other: { backendAuth: { key: "${KEY_TWO}" } },
    passed: { backendAuth: { passthrough: {} } },
    open: undefined,
  };
  const targets = Object.entries(policies).map(([name, own]) => ({
    name,
    mcp: { host: urls[name as keyof typeof expected] },
    ...(own && { policies: own }),
  }));
  const jwtAuth = { issuer, jwks: { inline: keySet } };
  const routes = [{ name: "tools", policies: { jwtAuth }, backends: [{ mcp: { targets } }] }];
  const env = { KEY_ONE: "key-of-one", KEY_TWO: "key-of-two" };
  return startGateway({ listeners: [{ routes }], env });
}

async function fromManifests(urls: Record<keyof typeof expected, string>): Promise<Gateway> {
  const server = (name: keyof typeof expected, own = "") =>
    `{name: ${name}, static: {host: 127.0.0.1, port: ${new URL(urls[name]).port}, ${own}}}`;
  const policy = (section: string, auth: string) => `
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: of-${section}}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools, sectionName: ${section}}], backend: {auth: ${auth}}}}`;
  const secret = (name: string) => `
---
{apiVersion: v1, kind: Secret, metadata: {name: ${name}}, data: {Authorization: ""}}`;
  const config = `${gatewayManifest(await freePort())}
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}]}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: tokens}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {jwtAuthentication: {providers: [{issuer: ${issuer}, jwks: {inline: '${keySet}'}}]}}}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {mcp: {targets: [
  ${server("keyed", "policies: {auth: {secretRef: {name: one}}}")}, ${server("other")},
  ${server("passed")}, ${server("open")}]}}}
${policy("other", "{secretRef: {name: two}}")}${policy("passed", "{passthrough: {}}")}${secret("one")}${secret("two")}`;
  const folder = temporaryFolder({
    "one/Authorization": "key-of-one",
    "two/Authorization": "key-of-two",
  });
  return startGateway({ config, env: { GWC_SECRETS_DIR: folder } });
}

describe.each([
  ["a file", fromFile],
  ["manifests", fromManifests],
])("merged servers, by %s,", (_form, start) => {
  it("each get their own credential, and only the intended one gets the client's token", async () => {
    const servers = await Promise.all(
      Object.entries(expected).map(
        async ([name, credential]) => [name, await serverOf(credential)] as const,
      ),
    );
    const urls = Object.fromEntries(servers.map(([name, { url }]) => [name, url]));
    const gateway = await start(urls as Record<keyof typeof expected, string>);
    const session = await openSession(gateway.url, client);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const [listed] = messagesOf(await post(gateway.url, list, session));
    const names = Object.keys(expected).map((name) => ({ name: `${name}_t` }));
    expect(listed).toMatchObject({ result: { tools: names } });
    for (const { name } of names) {
      const [called] = messagesOf(await post(gateway.url, toolCall(name), session));
      expect(called).toMatchObject({ result: { content: [{ text: "called" }] } });
    }
    for (const [name, { seen }] of servers) {
      const shown = new Set(seen.map(({ headers }) => headers.authorization));
      expect([name, [...shown]]).toEqual([name, [expected[name as keyof typeof expected]]]);
    }
  });
});
