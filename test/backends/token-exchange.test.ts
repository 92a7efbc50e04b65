import {
  createHash,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  X509Certificate,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { decodeProtectedHeader, importX509, jwtVerify, UnsecuredJWT } from "jose";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startRoutes } from "../policies/routes.ts";

/** Requests to the authorization server, in order. */
const asked: { readonly form: URLSearchParams; readonly authorization: string | undefined }[] = [];
const JWT = "urn:ietf:params:oauth:token-type:jwt";
/** Keys of the gateway's assertions. */
let signer: KeyPairKeyObjectResult;
let issuer: IdentityProvider;
const folder = temporaryFolder();
const fileText = (name: string) => readFileSync(path.join(folder, name), "utf8");
let gateway: Gateway;

/** Gives `for-TOKEN` for a token, unless the token says what else should happen. */
async function startServer(): Promise<string> {
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    asked.push({ form, authorization: request.headers.authorization });
    const subject = form.get("subject_token") ?? form.get("assertion") ?? "";
    const [word, count = "0"] = subject.split("-");
    const give = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (word === "refused") give(400, { error: "invalid_grant", error_description: "secret" });
    else if (word === "forbidden") give(401, { error: "invalid_client" });
    else if (word === "broken") give(500, {});
    else if (word === "empty") give(200, { access_token: "" });
    else if (word === "spaced") give(200, { access_token: "a\r\nx-evil: 1" });
    else if (word === "brief")
      give(200, { access_token: `brief-${asked.length}`, expires_in: Number(count) });
    else
      give(200, {
        access_token: `for-${subject.slice(0, 40)}`,
        issued_token_type: form.get("requested_token_type") ?? undefined,
        token_type: "Bearer",
        expires_in: 300,
      });
  });
  return `127.0.0.1:${await listen(server)}`;
}

/** Credentials that MCP servers and models received. */
const shown: (string | undefined)[] = [];

/** A server of MCP below `/mcp`, and of models elsewhere. */
async function startBackends(): Promise<string> {
  const server = createServer(async (request, response) => {
    const message = JSON.parse((await text(request)) || "{}");
    shown.push(request.headers.authorization);
    const give = (body: object): void => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    };
    const { id, method } = message;
    if (!request.url?.startsWith("/mcp")) {
      const said = {
        index: 0,
        message: { role: "assistant", content: "hi" },
        finish_reason: "stop",
      };
      give({ id: "1", object: "chat.completion", created: 1, model: "m", choices: [said] });
    } else if (id === undefined) response.writeHead(202).end();
    else if (method === "initialize") {
      const serverInfo = { name: "s", version: "1" };
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
      give({ jsonrpc: "2.0", id, result });
    } else give({ jsonrpc: "2.0", id, result: { tools: [] } });
  });
  return `127.0.0.1:${await listen(server)}`;
}

beforeAll(async () => {
  const host = await startServer();
  const others = await startBackends();
  const exchanged = { policies: { backendAuth: { oauthTokenExchange: { host, path: "/token" } } } };
  issuer = await IdentityProvider.start();
  const upstream = await startEcho();
  const backend = { host: new URL(upstream.url).host };
  const to = (exchange: object, more: Readonly<Record<string, unknown>> = {}) => ({
    policies: more,
    backends: [
      {
        ...backend,
        policies: { backendAuth: { oauthTokenExchange: { host, path: "/token", ...exchange } } },
      },
    ],
  });
  const clientAuth = { clientId: "gate:way", clientSecret: "${SECRET}" };
  const crossing = (more: object) => {
    const crossAppAccess = {
      identityProvider: { host, path: "/idp", clientAuth },
      resourceAuthorizationServer: {
        host,
        path: "/resource",
        clientAuth: { ...clientAuth, clientId: "there", method: "clientSecretPost" },
      },
      audience: "https://resource.example",
      resources: ["https://api.example"],
      scopes: ["read"],
      ...more,
    };
    return {
      policies: {},
      backends: [{ ...backend, policies: { backendAuth: { crossAppAccess } } }],
    };
  };
  makeCertificate(folder, "ca");
  makeCertificate(folder, "leaf", { signer: "ca", names: "DNS:localhost" });
  const CERTIFICATE = ["leaf", "ca"].map((name) => fileText(`${name}.pem`)).join("");
  const certified = (certificateHeader: string, more: object = {}) =>
    to({
      clientAuth: {
        clientId: "certified",
        method: "privateKeyJwt",
        signingKey: { file: path.join(folder, "leaf.key") },
        certificate: "${CERTIFICATE}",
        certificateHeader,
        alg: "ES256",
        assertionAudience: "https://login.example/token",
        ...more,
      },
    });
  signer = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const SIGNING_KEY = signer.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  gateway = await startRoutes(
    {
      plain: to({
        clientAuth,
        audiences: ["orders", "bills"],
        scopes: ["read", "write"],
        resources: ["https://orders.example"],
      }),
      posted: to({
        clientAuth: { ...clientAuth, method: "clientSecretPost" },
        requestedTokenType: "urn:ietf:params:oauth:token-type:jwt",
      }),
      bearer: to({
        grantType: "jwtBearer",
        additionalParams: { requested_token_use: '"on_behalf_of"' },
      }),
      elsewhere: to({
        subjectToken: {
          source: { cookie: { name: "token" } },
          tokenType: "urn:ietf:params:oauth:token-type:id_token",
        },
        authorizationLocation: { header: { name: "X-Upstream-Auth" } },
      }),
      uncached: to({ cache: { maxEntries: 0 } }),
      few: to({ cache: { maxEntries: 2 } }),
      checked: to(
        { subjectToken: { source: { expression: "jwt.rawToken.unredacted()" } } },
        { jwtAuth: { issuer: issuer.issuer, jwks: { url: issuer.keySetUrl } } },
      ),
      away: to({ host: "127.0.0.1:1" }),
      public: to({ clientAuth: { clientId: "open", method: "clientSecretPost" } }),
      asserted: to({
        clientAuth: {
          clientId: "gate:way",
          method: "privateKeyJwt",
          signingKey: "${SIGNING_KEY}",
          alg: "ES256",
          kid: "one",
          assertionAudience: "https://login.example/token",
        },
      }),
      chained: certified("x5c"),
      digested: certified("x5t#S256"),
      mismatched: certified("x5c", { signingKey: "${SIGNING_KEY}" }),
      expressed: to({
        subjectToken: { source: { expression: 'request.headers["x-token"].lowerAscii()' } },
        actorToken: { source: { expression: 'request.headers["x-actor"]' } },
        additionalParams: { agent: 'request.headers["x-agent"] + "@" + request.method' },
      }),
      matched: to(
        {
          additionalParams: {
            plain: 'request.path.matches("^/mat.*") ? "matched" : "other"',
            caller: "jwt.sub",
          },
        },
        { jwtAuth: { mode: "optional", issuer: issuer.issuer, jwks: { url: issuer.keySetUrl } } },
      ),
      queried: to({ subjectToken: { source: { queryParameter: { name: "token" } } } }),
      acting: to({
        actorToken: {
          source: { header: { name: "X-Actor" } },
          tokenType: JWT,
          enforceMayAct: true,
        },
      }),
      delegated: to({ actorToken: { source: { header: { name: "X-Actor" } } } }),
      crossed: crossing({}),
      narrowed: crossing({ accessTokenScopes: [] }),
      tools: {
        policies: {},
        backends: [
          {
            mcp: {
              targets: [{ name: "one", mcp: { host: `http://${others}/mcp` }, ...exchanged }],
            },
          },
        ],
      },
      models: {
        policies: {},
        backends: [{ ai: { provider: { openAI: {} }, hostOverride: others }, ...exchanged }],
      },
    },
    upstream,
    {},
    { SECRET: "s%cret", SIGNING_KEY, CERTIFICATE },
  );
});
beforeEach(() => {
  asked.length = 0;
});

async function ask(route: string, headers: Record<string, string>) {
  const response = await send(`${gateway.url}/${route}`, "GET", headers);
  const sent = response.status === 200 ? JSON.parse(response.body).headers : undefined;
  return { ...response, sent };
}
/** A token with claims, whose signature nothing here checks. */
const withClaims = (claims: object) => new UnsecuredJWT({ ...claims }).encode();
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("oauthTokenExchange", () => {
  it("shows the backend what the authorization server gives for the client's token", async () => {
    const { sent } = await ask("plain", bearer("one"));
    expect(sent.authorization).toBe("Bearer for-one");
    const [{ form, authorization } = { form: new URLSearchParams(), authorization: "" }] = asked;
    expect([...form]).toEqual([
      ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ["subject_token", "one"],
      ["subject_token_type", "urn:ietf:params:oauth:token-type:access_token"],
      ["audience", "orders"],
      ["audience", "bills"],
      ["resource", "https://orders.example"],
      ["scope", "read write"],
    ]);
    expect(authorization).toBe(`Basic ${btoa("gate%3Away:s%25cret")}`);
  });

  it("says in the form who it is, and what it wants, when it is configured so", async () => {
    await ask("posted", bearer("two"));
    expect(Object.fromEntries(asked[0]?.form ?? [])).toMatchObject({
      client_id: "gate:way",
      client_secret: "s%cret",
      requested_token_type: "urn:ietf:params:oauth:token-type:jwt",
    });
    expect(asked[0]?.authorization).toBeUndefined();
  });

  it("uses the client's token as the assertion of RFC 7523", async () => {
    const { sent } = await ask("bearer", bearer("three"));
    expect(sent.authorization).toBe("Bearer for-three");
    expect([...(asked[0]?.form ?? [])]).toEqual([
      ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
      ["assertion", "three"],
      ["requested_token_use", "on_behalf_of"],
    ]);
  });

  it("takes the token from its place, and removes it there", async () => {
    const { sent } = await ask("elsewhere", { cookie: "a=1; token=four; b=2" });
    expect(sent).toMatchObject({ "x-upstream-auth": "for-four", cookie: "a=1; b=2" });
    expect(asked[0]?.form.get("subject_token_type")).toBe(
      "urn:ietf:params:oauth:token-type:id_token",
    );
  });

  it("shows MCP servers and models what it is given for the client's token", async () => {
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      send(
        `${gateway.url}/${path}`,
        "POST",
        {
          ...bearer("caller"),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        JSON.stringify(body),
      );
    const clientInfo = { name: "c", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const first = await post("tools", { jsonrpc: "2.0", id: 1, method: "initialize", params });
    expect(first.status, first.body).toBe(200);
    const given = first.headers["mcp-session-id"];
    const session = given === undefined ? {} : { "mcp-session-id": String(given) };
    const list = await post("tools", { jsonrpc: "2.0", id: 2, method: "tools/list" }, session);
    expect(list.body).toContain('"tools":[]');
    expect(new Set(shown.splice(0))).toEqual(new Set(["Bearer for-caller"]));
    const messages = [{ role: "user", content: "hi" }];
    const said = await post("models/v1/chat/completions", { model: "m", messages });
    expect(said.status, said.body).toBe(200);
    // A request of the session with the MCP server may still arrive.
    expect(new Set(shown)).toEqual(new Set(["Bearer for-caller"]));
    expect(asked).toHaveLength(2);
  });

  it("takes the token that jwtAuth has checked", async () => {
    const token = await issuer.token();
    const { sent } = await ask("checked", bearer(token));
    expect(asked[0]?.form.get("subject_token")).toBe(token);
    expect(sent.authorization).toBe(`Bearer for-${token.slice(0, 40)}`);
    expect((await ask("checked", bearer("made-up"))).status).toBe(401);
    expect(asked).toHaveLength(1);
  });

  it("asks once for each token, however many requests wait", async () => {
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask("plain", bearer(`many-${index % 2}`))),
    );
    expect(found.map(({ sent }) => sent.authorization)).toEqual(
      Array.from({ length: 20 }, (_, index) => `Bearer for-many-${index % 2}`),
    );
    await ask("plain", bearer("many-1"));
    expect(asked).toHaveLength(2);
  });

  it("asks again when a token has ended, or none is kept", async () => {
    // A token that is about to end is not shown to the next request.
    const first = await ask("plain", bearer("brief-3"));
    const second = await ask("plain", bearer("brief-3"));
    expect(second.sent.authorization).not.toBe(first.sent.authorization);
    await ask("uncached", bearer("five"));
    await ask("uncached", bearer("five"));
    expect(asked).toHaveLength(4);
  });

  it("keeps as many tokens as it may", async () => {
    for (const token of ["a", "b", "c", "a"]) await ask("few", bearer(token));
    expect(asked.map(({ form }) => form.get("subject_token"))).toEqual(["a", "b", "c", "a"]);
    await ask("few", bearer("c"));
    expect(asked).toHaveLength(4);
  });

  it.each([
    ["no token", {}, 401],
    ["another scheme", { authorization: "Basic abc" }, 401],
    ["a token that the server refuses", bearer("refused"), 401],
    ["a server that does not take the gateway's secret", bearer("forbidden"), 502],
    ["a server that fails", bearer("broken"), 502],
    ["a response without a token", bearer("empty"), 502],
    ["a response with a header in its token", bearer("spaced"), 502],
  ])("lets nothing through with %s", async (_, headers, status) => {
    const response = await ask("plain", headers);
    expect(response.status).toBe(status);
    expect(response.body).not.toContain("secret");
    expect(response.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
  });

  it("does not ask again at once about a token that was refused", async () => {
    await ask("bearer", bearer("refused"));
    await ask("bearer", bearer("refused"));
    expect(asked).toHaveLength(1);
  });

  it("authenticates with an assertion that it signs, a new one for each request", async () => {
    await ask("asserted", bearer("signed"));
    await ask("asserted", bearer("signed-again"));
    const assertions = asked.map(({ form }) => form.get("client_assertion") ?? "");
    expect(new Set(assertions).size).toBe(2);
    expect(asked[0]?.form.get("client_assertion_type")).toBe(
      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    );
    expect(asked[0]?.form.has("client_secret")).toBe(false);
    const { payload, protectedHeader } = await jwtVerify(assertions[0] ?? "", signer.publicKey, {
      audience: "https://login.example/token",
      issuer: "gate:way",
      subject: "gate:way",
    });
    expect(protectedHeader).toMatchObject({ alg: "ES256", kid: "one" });
    expect(payload.jti).toEqual(expect.any(String));
  });

  it("shows the certificate of its key in assertions", async () => {
    await ask("chained", bearer("with-chain"));
    await ask("digested", bearer("with-digest"));
    const headers = asked.map(({ form }) =>
      decodeProtectedHeader(form.get("client_assertion") ?? ""),
    );
    const [leaf, ca] = ["leaf", "ca"].map((name) => new X509Certificate(fileText(`${name}.pem`)));
    expect(headers[0]?.x5c).toEqual([leaf, ca].map((each) => each?.raw.toString("base64")));
    expect(headers[1]?.["x5t#S256"]).toBe(
      createHash("sha256")
        .update(leaf?.raw ?? "")
        .digest("base64url"),
    );
    const shown = await importX509(leaf?.toString() ?? "", "ES256");
    await jwtVerify(asked[0]?.form.get("client_assertion") ?? "", shown);
  });

  it("signs nothing with a key that the certificate does not belong to", async () => {
    expect((await ask("mismatched", bearer("any"))).status).toBe(502);
    await gateway.seen(/route=mismatched .*certificate for signed tokens belongs to another key/);
    expect(asked).toHaveLength(0);
  });

  it("evaluates expressions for tokens and parameters on the client's request", async () => {
    const headers = { "x-token": "UPPER", "x-actor": "agent", "x-agent": "a" };
    const { sent } = await ask("expressed", headers);
    expect(sent).toMatchObject({ authorization: "Bearer for-upper", "x-token": "UPPER" });
    expect(Object.fromEntries(asked[0]?.form ?? [])).toMatchObject({
      subject_token: "upper",
      actor_token: "agent",
      agent: "a@GET",
    });
    await ask("expressed", headers);
    expect(asked).toHaveLength(1);
    // The token was issued for other parameters.
    await ask("expressed", { ...headers, "x-agent": "b" });
    expect(asked[1]?.form.get("agent")).toBe("b@GET");
    for (const name of ["x-token", "x-actor", "x-agent"] as const) {
      const { [name]: _, ...rest } = headers;
      expect((await ask("expressed", rest)).status, name).toBe(401);
    }
    expect(asked).toHaveLength(2);
  });

  it("evaluates parameters that need constants, and claims of the caller", async () => {
    const token = await issuer.token();
    expect((await ask("matched", bearer(token))).status).toBe(200);
    expect(Object.fromEntries(asked[0]?.form ?? [])).toMatchObject({
      plain: "matched",
      caller: expect.any(String),
    });
    expect((await ask("matched", {})).status).toBe(401);
  });

  it("takes the token from a query parameter, which the backend does not get", async () => {
    const response = await send(`${gateway.url}/queried?a=1&token=in%2Durl`, "GET");
    expect(asked[0]?.form.get("subject_token")).toBe("in-url");
    const { headers, url } = JSON.parse(response.body);
    expect(headers.authorization).toBe("Bearer for-in-url");
    expect(url).toBe("/queried?a=1");
    expect((await send(`${gateway.url}/queried?a=1`, "GET")).status).toBe(401);
  });

  it("names a client without a secret in the form", async () => {
    await ask("public", bearer("open"));
    expect(asked[0]?.form.get("client_id")).toBe("open");
    expect(asked[0]?.authorization).toBeUndefined();
  });

  it("sends the token of an actor that the client's token permits, to the server only", async () => {
    const client = withClaims({ sub: "alice", may_act: { sub: "agent" } });
    const actor = withClaims({ sub: "agent" });
    const { sent } = await ask("acting", { ...bearer(client), "x-actor": actor });
    expect(asked[0]?.form.get("actor_token")).toBe(actor);
    expect(asked[0]?.form.get("actor_token_type")).toBe(JWT);
    expect(sent["x-actor"]).toBeUndefined();
  });

  it.each([
    ["no actor", { may_act: { sub: "agent" } }, undefined],
    ["another actor", { may_act: { sub: "agent" } }, { sub: "other" }],
    [
      "an actor of another issuer",
      { may_act: { sub: "agent", iss: "a" } },
      { sub: "agent", iss: "b" },
    ],
    ["a token that permits nobody", {}, { sub: "agent" }],
    ["a token that permits an empty actor", { may_act: {} }, { sub: "agent" }],
    ["a permission that is not an object", { may_act: ["sub"] }, { sub: "agent" }],
  ])("refuses %s without asking the server", async (_, client, actor) => {
    const shown = actor === undefined ? {} : { "x-actor": withClaims(actor) };
    const response = await ask("acting", { ...bearer(withClaims(client)), ...shown });
    expect(response.status).toBe(401);
    expect(asked).toHaveLength(0);
  });

  it("never sends the token of one client and actor for another one", async () => {
    const pairs = [
      ["alice", "agent"],
      ["alice", "other"],
      ["bob", "agent"],
    ] as const;
    for (const [client, actor] of [...pairs, ...pairs])
      await ask("delegated", { ...bearer(client), "x-actor": actor });
    const exchanged = asked.map(({ form }) => [form.get("subject_token"), form.get("actor_token")]);
    expect(exchanged).toEqual(pairs);
  });

  it("gets an assertion of the identity provider, and a token for it", async () => {
    const { sent } = await ask("crossed", bearer("user"));
    expect(sent.authorization).toBe("Bearer for-for-user");
    const [first, second] = asked;
    expect(Object.fromEntries(first?.form ?? [])).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: "user",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: "https://resource.example",
      resource: "https://api.example",
      scope: "read",
    });
    expect(Object.fromEntries(second?.form ?? [])).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "for-user",
      scope: "read",
      client_id: "there",
      client_secret: "s%cret",
    });
    await ask("crossed", bearer("user"));
    expect(asked).toHaveLength(2);
  });

  it("does not request scopes of the second token if there are none", async () => {
    await ask("narrowed", bearer("user"));
    expect(asked.map(({ form }) => form.get("scope"))).toEqual(["read", null]);
  });

  it("writes no tokens, secrets or assertions to the log", async () => {
    await ask("crossed", bearer("refused-private"));
    await gateway.seen(/route=crossed .*http\.status=401/);
    expect(gateway.output).not.toMatch(/refused-private|s%cret|PRIVATE KEY|for-user/);
  });

  it("is a 502 when the server can't be reached, with the reason in the log only", async () => {
    expect((await ask("away", bearer("six"))).status).toBe(502);
    await gateway.seen(/route=away .*http\.status=502 .*error="?no token for the backend/);
    expect(gateway.output).not.toContain("s%cret");
  });
});
