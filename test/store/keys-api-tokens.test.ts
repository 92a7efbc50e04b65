import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { callWith } from "../harness/call.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { RedisServer } from "../harness/redis.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { now, sign } from "../harness/token.ts";

const RULE = '"platform" in jwt.groups || (request.method == "GET" && jwt.sub == "auditor")';

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});

const tokens = () => ({
  issuer: provider.issuer,
  audiences: ["gwc-keys"],
  jwks: { url: provider.keySetUrl },
  rule: RULE,
});

/** A token that the provider's key has signed. */
function tokenOf(sub: string, groups: readonly string[], more: object = {}): Promise<string> {
  const [key = {}] = provider.keys;
  const own = { iss: provider.issuer, aud: "gwc-keys", exp: now() + 600, sub, groups };
  return sign(key, { ...own, ...more });
}

async function startFile(keysApi: (port: number) => object) {
  const port = await freePort();
  const gateway = await startGateway({
    env: { GWC_STATE_DIR: temporaryFolder() },
    file: { config: { keysApi: { port, ...keysApi(port) } } },
    listeners: [
      {
        routes: [
          { policies: { apiKey: { store: true }, directResponse: { status: 200, body: "hello" } } },
        ],
      },
    ],
  });
  return { gateway, port };
}

async function ask(port: number, method: string, target: string, token: string, body?: object) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = { authorization: `Bearer ${token}` };
  const response = await send(`http://127.0.0.1:${port}${target}`, method, headers, text);
  return { status: response.status, json: JSON.parse(response.body) };
}

describe("tokens at the API for keys", () => {
  let gateway: Gateway;
  let port: number;

  beforeAll(async () => {
    ({ gateway, port } = await startFile(() => ({ jwt: tokens() })));
  });

  it("make keys if the rule allows it, and the log has their subject", async () => {
    const token = await tokenOf("ann", ["platform"]);
    const made = await ask(port, "POST", "/v1/keys", token, { name: "ci" });
    expect(made.status).toBe(201);
    expect((await callWith(gateway.url, made.json.key)).status).toBe(200);
    await gateway.seen(/route=keys-api .*user=ann.* keys.action=create/);
    expect(gateway.output).not.toContain(token);
  });

  it("may only do what the rule allows", async () => {
    const auditor = await tokenOf("auditor", []);
    expect((await ask(port, "GET", "/v1/keys", auditor)).status).toBe(200);
    const refused = await ask(port, "POST", "/v1/keys", auditor, { name: "x" });
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { message: "the rule of this API denies this request" } },
    });
  });

  it.each([
    ["of another audience", { aud: "shop" }],
    ["that have expired", { exp: 1 }],
    ["without a subject", { sub: undefined }],
    ["of another issuer", { iss: "https://other.example.com" }],
  ])("are refused: %s", async (_, claims) => {
    const token = await tokenOf("ann", ["platform"], claims);
    expect((await ask(port, "GET", "/v1/keys", token)).status).toBe(401);
  });
});

it("a key and tokens are accepted next to each other", async () => {
  const file = path.join(temporaryFolder({ "admin.key": "the-admin-key\n" }), "admin.key");
  const { port } = await startFile(() => ({ key: { file }, jwt: tokens() }));
  expect((await ask(port, "GET", "/v1/keys", "the-admin-key")).status).toBe(200);
  expect((await ask(port, "GET", "/v1/keys", await tokenOf("auditor", []))).status).toBe(200);
  expect((await ask(port, "GET", "/v1/keys", "another-key")).status).toBe(401);
});

it("GatewayParameters: the pods of a Gateway have the API, with a Secret and tokens", async () => {
  const redis = await RedisServer.start();
  const folder = temporaryFolder();
  const secrets = { redis: { url: redis.url }, admin: { key: "the-admin-key" } };
  for (const [name, entries] of Object.entries(secrets))
    for (const [key, value] of Object.entries(entries)) {
      mkdirSync(path.join(folder, "secrets", name), { recursive: true });
      writeFileSync(path.join(folder, "secrets", name, key), value);
    }
  const port = await freePort();
  const gateway = await startGateway({
    folder,
    env: { GWC_SECRETS_DIR: path.join(folder, "secrets") },
    config: manifests(await freePort(), port),
  });
  const made = await ask(port, "POST", "/v1/keys", "the-admin-key", { name: "ci" });
  expect(made.status).toBe(201);
  expect((await callWith(gateway.url, made.json.key)).status).toBe(302);
  expect((await callWith(gateway.url, "unknown")).status).toBe(401);
  const token = await tokenOf("ann", ["platform"]);
  expect((await ask(port, "DELETE", "/v1/keys/ci", token)).json).toEqual({ revoked: 1 });
  expect((await callWith(gateway.url, made.json.key)).status).toBe(401);
});

function manifests(port: number, apiPort: number): string {
  const documents = [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "gw" },
      spec: {
        gatewayClassName: "gwc",
        infrastructure: {
          parametersRef: { group: "gwc.dev", kind: "GatewayParameters", name: "own" },
        },
        listeners: [{ name: "http", port, protocol: "HTTP" }],
      },
    },
    {
      apiVersion: "gwc.dev/v1alpha1",
      kind: "GatewayParameters",
      metadata: { name: "own" },
      spec: {
        store: { redis: { secretRef: { name: "redis" } } },
        keysApi: { port: apiPort, keyRef: { name: "admin" }, jwt: tokens() },
      },
    },
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "hello" },
      spec: {
        parentRefs: [{ name: "gw" }],
        rules: [
          {
            filters: [
              {
                type: "RequestRedirect",
                requestRedirect: { path: { type: "ReplaceFullPath", replaceFullPath: "/x" } },
              },
            ],
          },
        ],
      },
    },
    {
      apiVersion: "gwc.dev/v1alpha1",
      kind: "GatewayPolicy",
      metadata: { name: "keys" },
      spec: {
        targetRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "hello" }],
        traffic: { apiKeyAuthentication: { store: true } },
      },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "redis" },
      stringData: { url: "unused" },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "admin" },
      stringData: { key: "unused" },
    },
  ];
  return documents.map((each) => JSON.stringify(each)).join("\n---\n");
}
