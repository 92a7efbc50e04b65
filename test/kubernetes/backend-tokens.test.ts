import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { decodeProtectedHeader, jwtVerify, UnsecuredJWT } from "jose";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { mountsIn } from "../harness/mounts.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Requests to the authorization servers, in order. */
const asked: { readonly url: string; readonly form: Readonly<Record<string, string>> }[] = [];
const signer = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
let certificate: X509Certificate;
let gateway: Gateway;

/** Starts a server of tokens that responds with the last part of its path and the given token. */
async function startTokenServer(): Promise<number> {
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const url = request.url ?? "";
    asked.push({ url, form });
    const given = form.subject_token ?? form.assertion ?? form.client_assertion ?? "";
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        access_token: `${url.split("/").at(-1)}:${given.slice(0, 20)}`,
        issued_token_type: form.requested_token_type,
        token_type: "Bearer",
        expires_in: 3600,
      }),
    );
  });
  return listen(server);
}

function gatewayBackend(name: string, port: number, policies?: object): object {
  return {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayBackend",
    metadata: { name },
    spec: { static: { host: "127.0.0.1", port }, ...(policies && { policies }) },
  };
}

function reference(name: string) {
  return { group: "gwc.dev", kind: "GatewayBackend", name };
}

beforeAll(async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "client");
  const pem = readFileSync(path.join(folder, "client.pem"), "utf8");
  certificate = new X509Certificate(pem);
  const tokens = await startTokenServer();
  const [port, echo] = [await freePort(), Number(new URL((await startEcho()).url).port)];
  const endpoint = (name: string) => ({ backendRef: reference("login"), path: `/${name}` });
  const secretRef = { name: "keys" };
  const clientAuth = { clientId: "gateway", secretRef: { name: "keys", key: "password" } };
  const auths: Readonly<Record<string, object>> = {
    exchanged: { oauthTokenExchange: { ...endpoint("token"), clientAuth } },
    acting: {
      oauthTokenExchange: {
        ...endpoint("token"),
        actorToken: {
          source: { header: { name: "X-Actor" } },
          tokenType: "Jwt",
          mayAct: "Required",
        },
      },
    },
    expressed: {
      oauthTokenExchange: {
        ...endpoint("token"),
        subjectToken: { source: { expression: 'request.headers["x-token"]' } },
        additionalParams: { agent: 'request.headers["x-agent"]' },
        location: { cookie: { name: "upstream" } },
      },
    },
    certified: {
      oauthTokenExchange: {
        ...endpoint("token"),
        clientAuth: {
          clientId: "gateway",
          method: "PrivateKeyJwt",
          privateKeyJwt: {
            signingKeyRef: { name: "keys", key: "client.key" },
            certificateRef: { name: "keys", key: "client.pem" },
            certificateHeader: "x5t#S256",
            alg: "ES256",
            assertionAudience: "https://login.example",
          },
        },
      },
    },
    crossed: {
      crossAppAccess: {
        identityProvider: { ...endpoint("identity"), clientAuth },
        resourceAuthorizationServer: { ...endpoint("resource"), clientAuth },
        audience: "https://resource.example",
      },
    },
    signed: {
      jwtSign: { signingKeyRef: secretRef, alg: "ES256", claims: { iss: "gateway" } },
    },
    workload: { azure: { workloadIdentity: {}, scope: "https://api.example/.default" } },
    google: { gcp: { secretRef: { name: "keys", key: "google.json" } } },
  };
  const signingKey = signer.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const google = {
    ...{ type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" },
    token_uri: `http://127.0.0.1:${tokens}/google`,
  };
  const entries = {
    password: "s%cret",
    "client.pem": pem,
    "client.key": readFileSync(path.join(folder, "client.key"), "utf8"),
    signingKey,
    "google.json": JSON.stringify(google),
  };
  const names = Object.keys(auths);
  const documents = [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "gw" },
      spec: { gatewayClassName: "gwc", listeners: [{ name: "a", port, protocol: "HTTP" }] },
    },
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "r" },
      spec: {
        parentRefs: [{ name: "gw" }],
        rules: names.map((name) => ({
          matches: [{ path: { value: `/${name}` } }],
          backendRefs: [reference(name)],
        })),
      },
    },
    gatewayBackend("login", tokens),
    ...names.map((name) => gatewayBackend(name, echo, { auth: auths[name] })),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "keys" },
      stringData: Object.fromEntries(Object.keys(entries).map((key) => [key, ""])),
    },
  ];
  const mounts = temporaryFolder(
    Object.fromEntries([
      ...Object.entries(entries).map(([key, value]) => [`secrets/keys/${key}`, value]),
      ["federated", "federated-token"],
    ]),
  );
  gateway = await startGateway({
    config: documents.map((each) => JSON.stringify(each)).join("\n---\n"),
    folder: mounts,
    env: {
      ...mountsIn(mounts),
      AZURE_AUTHORITY_HOST: `http://127.0.0.1:${tokens}`,
      AZURE_TENANT_ID: "tenant",
      AZURE_CLIENT_ID: "app",
      AZURE_FEDERATED_TOKEN_FILE: path.join(mounts, "federated"),
    },
  });
});
beforeEach(() => {
  asked.length = 0;
});

async function sent(name: string, headers: Record<string, string> = {}) {
  const { status, body } = await send(`${gateway.url}/${name}`, "GET", headers);
  return status === 200 ? JSON.parse(body).headers : status;
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

it("tokens are exchanged at the server of a backendRef, with a secret of secretRef.key", async () => {
  expect(await sent("exchanged", bearer("one"))).toMatchObject(bearer("token:one"));
  expect(asked[0]?.url).toBe("/token");
  expect(gateway.output).not.toContain("s%cret");
});

it("an actor must be permitted by the client's token", async () => {
  const client = new UnsecuredJWT({ may_act: { sub: "agent" } }).encode();
  const actor = (sub: string) => ({ "x-actor": new UnsecuredJWT({ sub }).encode() });
  expect(await sent("acting", { ...bearer(client), ...actor("other") })).toBe(401);
  expect(await sent("acting", bearer(client))).toBe(401);
  await sent("acting", { ...bearer(client), ...actor("agent") });
  expect(asked.map(({ form }) => form.actor_token)).toEqual([actor("agent")["x-actor"]]);
});

it("expressions find the token and the values of parameters", async () => {
  const headers = await sent("expressed", { "x-token": "two", "x-agent": "a" });
  expect(headers.cookie).toBe("upstream=token:two");
  expect(asked[0]?.form).toMatchObject({ subject_token: "two", agent: "a" });
  expect(await sent("expressed", { "x-token": "two" })).toBe(401);
});

it("assertions show the certificate of their key", async () => {
  await sent("certified", bearer("three"));
  const assertion = asked[0]?.form.client_assertion ?? "";
  expect(decodeProtectedHeader(assertion)["x5t#S256"]).toBe(
    createHash("sha256").update(certificate.raw).digest("base64url"),
  );
  await jwtVerify(assertion, certificate.publicKey, { audience: "https://login.example" });
});

it("cross-app access asks the identity provider, then the backend's authorization server", async () => {
  const headers = await sent("crossed", bearer("user"));
  expect(headers.authorization).toBe("Bearer resource:identity:user");
  expect(asked.map(({ url }) => url)).toEqual(["/identity", "/resource"]);
});

it("tokens are signed with the key of a Secret", async () => {
  const { authorization } = await sent("signed");
  const { payload } = await jwtVerify(authorization.slice("Bearer ".length), signer.publicKey);
  expect(payload.iss).toBe("gateway");
});

it("a workload of Azure sends the token of its file, for the configured scope", async () => {
  expect((await sent("workload")).authorization).toBe("Bearer token:federated-token");
  expect(asked[0]?.form.scope).toBe("https://api.example/.default");
});

it("credentials of Google come from the entry of a Secret", async () => {
  expect((await sent("google")).authorization).toBe("Bearer google:");
  expect(asked[0]?.form.refresh_token).toBe("r");
});
