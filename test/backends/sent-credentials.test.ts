import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";
import { exactRoutes } from "./exact-routes.ts";

/** A gateway in front of an upstream that records its requests. */
interface Started {
  readonly gateway: Gateway;
  /** Returns the request as the upstream received it. */
  readonly sent: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Received>;
}

async function start(
  auths: Readonly<Record<string, object>>,
  more: { readonly folder?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Started> {
  const upstream = await startScripted((response) => response.end("ok"));
  const backends = Object.entries(auths).map(([path, backendAuth]) => [
    path,
    { host: upstream.host, policies: { backendAuth } },
  ]);
  const gateway = await startGateway({
    ...more,
    listeners: exactRoutes(Object.fromEntries(backends)),
  });
  return { gateway, sent: (path, headers) => sentTo(upstream, gateway, path, headers) };
}

async function sentTo(
  { received }: Scripted,
  gateway: Gateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  expect((await send(`${gateway.url}${path}`, "GET", headers)).status).toBe(200);
  const last = received.at(-1);
  if (last === undefined) throw new Error("nothing was received");
  return last;
}

const header = (name: string, prefix?: string) => ({ header: { name, ...(prefix && { prefix }) } });

describe("backendAuth: places of credentials", () => {
  let world: Started;
  let folder: string;

  beforeAll(async () => {
    folder = temporaryFolder({ "key.txt": "Bearer of-file\n", "other.txt": "o1" });
    const value = "${KEY}";
    world = await start(
      {
        "/header": { key: { value, location: header("X-Api-Key") } },
        "/prefix": { key: { value, location: header("X-Auth", "Token") } },
        "/prefix-as-is": { key: { value, location: header("X-Auth", "key=") } },
        "/query": { key: { value, location: { queryParameter: { name: "api key" } } } },
        "/cookie": { key: { value, location: { cookie: { name: "session" } } } },
        "/file": { key: { value: { file: "key.txt" }, location: header("x-api-key") } },
        "/default": { key: { value } },
        "/two": {
          key: value,
          credentials: [
            { location: header("x-app"), key: "${APP}" },
            { location: { queryParameter: { name: "sig" } }, key: { file: "other.txt" } },
          ],
        },
        "/more": { credentials: [{ location: header("x-app"), key: "${APP}" }] },
      },
      { folder, env: { KEY: "k3y/+=", APP: "of-app" } },
    );
  });

  const client = {
    authorization: "Bearer of-client",
    "x-api-key": "of-client",
    "x-auth": "of-client",
  };

  it("a header carries the key instead of the client's header", async () => {
    const { headers } = await world.sent("/header", client);
    expect(headers["x-api-key"]).toBe("k3y/+=");
    expect(headers.authorization).toBe("Bearer of-client");
  });

  it("a word before the key is followed by a space, another prefix is not", async () => {
    expect((await world.sent("/prefix", client)).headers["x-auth"]).toBe("Token k3y/+=");
    expect((await world.sent("/prefix-as-is", client)).headers["x-auth"]).toBe("key=k3y/+=");
  });

  it("a query parameter replaces the client's and is encoded", async () => {
    const { url } = await world.sent("/query?a=1&api%20key=of-client&b=2", client);
    expect(url).toBe("/query?a=1&b=2&api%20key=k3y%2F%2B%3D");
  });

  it("a cookie replaces the client's of that name only", async () => {
    const { headers } = await world.sent("/cookie", { cookie: "a=1; session=of-client" });
    expect(headers.cookie).toBe("a=1; session=k3y/+=");
  });

  it("a file has the key with or without its scheme, and is read again", async () => {
    expect((await world.sent("/file", client)).headers["x-api-key"]).toBe("of-file");
    writeFileSync(join(folder, "key.txt"), "second\n");
    const shown = async () => (await world.sent("/file", client)).headers["x-api-key"];
    await expect.poll(shown).toBe("second");
  });

  it("a value without a place is the Authorization", async () => {
    expect((await world.sent("/default", client)).headers.authorization).toBe("Bearer k3y/+=");
  });

  it("further credentials are sent with the main one", async () => {
    const { headers, url } = await world.sent("/two", client);
    expect(headers.authorization).toBe("Bearer k3y/+=");
    expect(headers["x-app"]).toBe("of-app");
    expect(url).toBe("/two?sig=o1");
  });

  it("further credentials alone leave the client's Authorization", async () => {
    const { headers } = await world.sent("/more", client);
    expect([headers.authorization, headers["x-app"]]).toEqual(["Bearer of-client", "of-app"]);
  });

  it("no credential is in the log", () => {
    expect(world.gateway.output).not.toMatch(/k3y|of-app|of-file/);
  });
});

it("the verified token of a client moves to another place", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" };
  const jwtAuth = {
    issuer: "i",
    audiences: ["a"],
    mode: "optional",
    jwks: { inline: JSON.stringify({ keys: [jwk] }) },
  };
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer("i")
    .setAudience("a")
    .setExpirationTime("5m")
    .sign(privateKey);
  const upstream = await startScripted((response) => response.end("ok"));
  const route = (path: string, place: object, location: object | undefined) => ({
    matches: [{ path: { exact: path } }],
    policies: {
      jwtAuth: { ...jwtAuth, ...(location && { location }) },
      backendAuth: { passthrough: { location: place } },
    },
    backends: [{ host: upstream.host }],
  });
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/bearer", header("x-user-token"), undefined),
          route("/header", header("x-user-token"), header("x-jwt")),
          route("/query", header("x-user-token"), { queryParameter: { name: "jwt" } }),
        ],
      },
    ],
  });
  const sent = (path: string, headers = {}) => sentTo(upstream, gateway, path, headers);
  const ofBearer = await sent("/bearer", { authorization: `Bearer ${token}` });
  expect(ofBearer.headers["x-user-token"]).toBe(token);
  expect(ofBearer.headers.authorization).toBeUndefined();
  const ofHeader = await sent("/header", { "x-jwt": token });
  expect([ofHeader.headers["x-user-token"], ofHeader.headers["x-jwt"]]).toEqual([token, undefined]);
  const ofQuery = await sent(`/query?jwt=${token}&a=1`);
  expect([ofQuery.headers["x-user-token"], ofQuery.url]).toEqual([token, "/query?a=1"]);
  expect((await sent("/bearer")).headers["x-user-token"]).toBeUndefined();
});

it("a model's key goes to the place that is named, not to the provider's own header", async () => {
  const upstream = await startScripted((response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ type: "error", error: { type: "overloaded_error" } }));
  }, "anything");
  const provider = {
    name: "p",
    provider: { anthropic: { model: "m" } },
    hostOverride: upstream.host,
    policies: { backendAuth: { key: { value: "${KEY}", location: header("x-proxy-key") } } },
  };
  const gateway = await startGateway({
    env: { KEY: "of-model" },
    listeners: [{ routes: [{ backends: [{ ai: provider }] }] }],
  });
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const headers = { "content-type": "application/json", "x-api-key": "of-client" };
  await send(`${gateway.url}/v1/chat/completions`, "POST", headers, body);
  const seen = upstream.received[0]?.headers;
  expect([seen?.["x-proxy-key"], seen?.["x-api-key"]]).toEqual(["of-model", undefined]);
});

it("mistakes are reported where they are", () => {
  const said = (backendAuth: unknown) =>
    complaints(
      checkManifests(`
binds:
- port: 3000
  listeners:
  - routes:
    - backends:
      - host: 127.0.0.1:9000
        policies:
          backendAuth: ${JSON.stringify(backendAuth)}
`),
    ).join();
  expect(said({ key: { value: "${A}", file: "a" } })).toMatch(/^9 .*"file".*"value"/);
  expect(said({ credentials: [] })).toMatch(/^9 /);
  expect(said({ credentials: [{ key: "${A}" }] })).toContain('"location"');
  expect(said({ key: { value: "literal", location: header("x-a") } })).toContain("literal-secret");
});

describe("backend.auth of manifests", () => {
  const ofBackend = (name: string) => `{group: gwc.dev, kind: GatewayBackend, name: ${name}}`;
  const backend = (name: string, port: string, auth: string) => `
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: 127.0.0.1, port: ${port}}, policies: {auth: ${auth}}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /${name}}}], backendRefs: [${ofBackend(name)}]}]}}`;
  const secret = `
{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {Authorization: "", token: ""}}`;

  it("secretRef.key, location and credentials have the meaning of a file's fields", async () => {
    const upstream = await startScripted((response) => response.end("ok"));
    const port = upstream.host.split(":")[1] ?? "";
    const gateway = await startGateway({
      config: `${gatewayManifest(await freePort())}${secret}${backend(
        "key",
        port,
        "{secretRef: {name: s, key: token}}",
      )}${backend(
        "placed",
        port,
        "{secretRef: {name: s}, location: {header: {name: X-Key}}, credentials: [{location: {queryParameter: {name: k}}, secretRef: {name: s, key: token}}]}",
      )}`,
      env: { GWC_SECRETS_DIR: temporaryFolder({ "s/Authorization": "Bearer a", "s/token": "t" }) },
    });
    const key = await sentTo(upstream, gateway, "/key");
    expect(key.headers.authorization).toBe("Bearer t");
    const placed = await sentTo(upstream, gateway, "/placed");
    expect([placed.headers["x-key"], placed.url]).toEqual(["a", "/placed?k=t"]);
  });

  it("an entry that the Secret lacks is reported", () => {
    const auth = "{secretRef: {name: s, key: other}}";
    const said = complaints(
      checkManifests(`${gatewayManifest(80)}${secret}${backend("b", "80", auth)}`),
    );
    expect(said.join()).toContain('"other"');
  });

  it("location requires a credential that it places", () => {
    const auth = "{gcp: {}, location: {header: {name: x}}}";
    const said = complaints(checkManifests(`${gatewayManifest(80)}${backend("b", "80", auth)}`));
    expect(said.join()).toContain('"location" requires "key", "secretRef" or "passthrough"');
  });
});
