import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let echo: Echo;
let key: JWK;

const hash = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";
const login = Buffer.from("ann:password").toString("base64");
const places = {
  header: { header: { name: "X-Credential", prefix: "Key " } },
  query: { queryParameter: { name: "credential" } },
  cookie: { cookie: { name: "credential" } },
  expression: { expression: 'request.headers["x-both"].split(" ")[1]' },
};

beforeAll(async () => {
  echo = await startEcho();
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  const issuer = { issuer: "test", jwks: JSON.stringify({ keys: [publicPart(key)] }) };
  const keys = [{ keyHash: `sha256:${createHash("sha256").update("secret-key").digest("hex")}` }];
  const passing = [
    { host: new URL(echo.url).host, policies: { backendAuth: { passthrough: {} } } },
  ];
  const each = Object.entries(places).flatMap(([name, location]) => [
    [`jwt-${name}`, { policies: { jwtAuth: { ...issuer, location } } }] as const,
    [`key-${name}`, { policies: { apiKey: { keys, location } } }] as const,
    [
      `basic-${name}`,
      {
        policies: {
          basicAuth: { htpasswd: `ann:${hash}`, authorizationLocation: location },
        },
      },
    ] as const,
    [`passed-${name}`, { policies: { apiKey: { keys, location } }, backends: passing }] as const,
  ]);
  gateway = await startRoutes(
    {
      ...Object.fromEntries(each),
      "passed-usual": { policies: { apiKey: { keys } }, backends: passing },
      "passed-token": { policies: { jwtAuth: issuer }, backends: passing },
      mcp: {
        policies: {
          mcpAuthentication: {
            ...issuer,
            issuer: "https://issuer.test",
            authorizationLocation: { cookie: { name: "session" } },
          },
        },
        backends: [{ mcp: { targets: [{ name: "one", mcp: { host: "http://127.0.0.1:1" } }] } }],
      },
      kept: { policies: {}, backends: passing },
      "no-claims": {
        policies: { jwtAuth: { ...issuer, jwtValidationOptions: { requiredClaims: [] } } },
      },
      "more-claims": {
        policies: {
          jwtAuth: {
            providers: [
              { ...issuer, jwtValidationOptions: { requiredClaims: ["exp", "sub", "team"] } },
            ],
          },
        },
      },
    },
    echo,
  );
});

/** Sends a request with a credential in a place and returns what reaches the upstream. */
async function carrying(route: string, place: string, credential: string) {
  const query = place === "query" ? `&credential=${encodeURIComponent(credential)}` : "";
  const headers: Record<string, string> = {
    cookie: place === "cookie" ? `a=1; credential=${credential}; b=2` : "a=1; b=2",
    ...(place === "header" ? { "x-credential": `key ${credential}` } : {}),
    ...(place === "expression" ? { "x-both": `old ${credential}` } : {}),
  };
  const response = await send(`${gateway.url}/${route}-${place}?x=%20y${query}&z`, "GET", headers);
  const seen = response.status === 200 ? (JSON.parse(response.body) as Echoed) : undefined;
  return { status: response.status, seen };
}

async function token(claims: object = { exp: now() + 600 }): Promise<string> {
  return sign(key, { iss: "test", ...claims }, { alg: "ES256" });
}

describe.each(Object.keys(places))("a credential in a %s", (place) => {
  it.each([
    ["jwt", "token"],
    ["key", "secret-key"],
    ["basic", login],
  ])("of %s is checked there", async (route, credential) => {
    const given = credential === "token" ? await token() : credential;
    expect((await carrying(route, place, given)).status).toBe(200);
    expect((await carrying(route, place, `x${given}`)).status).toBe(401);
    expect((await carrying(route, "nowhere", given)).status).toBe(404);
    const elsewhere = { authorization: `Bearer ${given}` };
    const response = await send(`${gateway.url}/${route}-${place}`, "GET", elsewhere);
    expect(response.status).toBe(401);
  });

  it("reaches an upstream that it is forwarded to", async () => {
    const { seen } = await carrying("passed", place, "secret-key");
    expect(JSON.stringify(seen)).toContain("secret-key");
  });
});

it.each(["header", "query", "cookie"])(
  "only a credential in a %s is withheld from the upstream",
  async (place) => {
    const { seen } = await carrying("key", place, "secret-key");
    expect(JSON.stringify(seen)).not.toContain("secret-key");
    expect(seen).toMatchObject({
      url: `/key-${place}?x=%20y&z`,
      headers: { cookie: "a=1; b=2" },
    });
    expect(seen?.headers["x-credential"]).toBeUndefined();
  },
);

it("a repeated query parameter is removed both times", async () => {
  const target = "/key-query?credential=secret-key&%63redential=other&x=1";
  const response = await send(`${gateway.url}${target}`, "GET");
  expect((JSON.parse(response.body) as Echoed).url).toBe("/key-query?x=1");
});

it.each(["passed-usual", "passed-token"])(
  "%s: Authorization is forwarded to the upstream",
  async (route) => {
    const authorization = `Bearer ${route === "passed-token" ? await token() : "secret-key"}`;
    const response = await send(`${gateway.url}/${route}`, "GET", { authorization });
    expect((JSON.parse(response.body) as Echoed).headers.authorization).toBe(authorization);
  },
);

it("forwarding credentials changes nothing if no policy has taken them", async () => {
  const authorization = "Custom x";
  const response = await send(`${gateway.url}/kept?credential=1`, "GET", { authorization });
  expect(JSON.parse(response.body)).toMatchObject({
    url: "/kept?credential=1",
    headers: { authorization },
  });
});

it("the required claims of a token can be configured", async () => {
  const status = async (route: string, claims: object) => {
    const headers = { authorization: `Bearer ${await token(claims)}` };
    return (await send(`${gateway.url}/${route}`, "GET", headers)).status;
  };
  expect(await status("no-claims", {})).toBe(200);
  expect(await status("no-claims", {})).toBe(200);
  expect(await status("no-claims", { exp: now() - 600 })).toBe(401);
  expect(await status("more-claims", { exp: now() + 600 })).toBe(401);
  expect(await status("more-claims", { exp: now() + 600, sub: "a" })).toBe(401);
  expect(await status("more-claims", { exp: now() + 600, sub: "a", team: "b" })).toBe(200);
  expect(await status("jwt-header", {})).toBe(401);
});

it("an MCP endpoint finds its token in the configured place", async () => {
  const list = (headers: Record<string, string>) =>
    send(
      `${gateway.url}/mcp`,
      "POST",
      {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    );
  const given = await token({ iss: "https://issuer.test", exp: now() + 600 });
  expect((await list({ authorization: `Bearer ${given}` })).status).toBe(401);
  // The server is down; the test only checks that it was called.
  expect((await list({ cookie: `session=${given}` })).status).not.toBe(401);
});

it("the issuer of an MCP endpoint is a URL", () => {
  const mcp = { targets: [{ name: "one", mcp: { host: "http://127.0.0.1:1" } }] };
  const policies = { mcpAuthentication: { issuer: "test", jwks: { url: "https://a.test/keys" } } };
  expect(findings({ policies, backends: [{ mcp }] })).toEqual(["bad-format"]);
});

it("an expression reads the request, not the result of its credential", () => {
  const found = (expression: string) =>
    findings({
      policies: { apiKey: { keys: [{ key: "${K}" }], location: { expression } } },
    });
  expect(found("source.address")).toEqual([]);
  expect(found("jwt.sub")).toEqual(["credential-expression"]);
  expect(found("response.code")).toEqual(["cel-wrong-phase"]);
});
