import { CompactEncrypt, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { call, callWith } from "../harness/call.ts";
import { eventually } from "../harness/eventually.ts";
import { audience } from "../harness/identity-provider.ts";
import { assemble, hmacWithPublicKey, now, publicPart, sign } from "../harness/token.ts";
import { startWorld, type World } from "./jwt-world.ts";

let world: World;
let key: JWK;

beforeAll(async () => {
  world = await startWorld();
  key = world.provider.keys[0] ?? {};
});

const claims = () => ({ iss: world.provider.issuer, aud: audience, sub: "alice", exp: now() + 60 });

describe("a token from the identity provider", () => {
  it("is accepted and not forwarded", async () => {
    const response = await callWith(`${world.gateway.url}/strict`, await world.provider.token());
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body).headers).not.toHaveProperty("authorization");
  });

  it("is accepted again from the cache", async () => {
    const token = await world.provider.token();
    const before = world.provider.keySetRequests;
    for (let i = 0; i < 20; i++) {
      expect((await callWith(`${world.gateway.url}/strict`, token)).status).toBe(200);
    }
    expect(world.provider.keySetRequests).toBe(before);
  });

  it("is recognized under any spelling of the scheme", async () => {
    const headers = { authorization: `bEARER ${await world.provider.token()}` };
    expect((await call(`${world.gateway.url}/strict`, headers)).status).toBe(200);
  });

  it("is logged only by its subject", async () => {
    const token = await sign(key, { ...claims(), sub: "carol smith" });
    await callWith(`${world.gateway.url}/strict`, token);
    await callWith(`${world.gateway.url}/strict`, `${token}x`);
    await expect.poll(() => world.gateway.output).toContain('jwt.sub="carol smith"');
    expect(world.gateway.output).not.toContain(token.slice(0, 40));
  });

  it("is subject to the following rules", async () => {
    const token = await world.provider.token();
    expect((await callWith(`${world.gateway.url}/ruled/allowed`, token)).status).toBe(200);
    const denied = await callWith(`${world.gateway.url}/ruled/denied`, token);
    expect(denied).toMatchObject({ status: 403, body: "authorization failed" });
  });
});

describe("a request without a token", () => {
  it("gets a 401 that names the scheme and no error", async () => {
    const response = await callWith(`${world.gateway.url}/strict`, undefined);
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
  });

  it.each(["Basic YTpi", "Bearer", "Bearer ", "Bearertoken", ""])(
    "includes requests with the credentials %j",
    async (authorization) => {
      const response = await call(`${world.gateway.url}/strict`, { authorization });
      expect(response.headers["www-authenticate"]).toBe("Bearer");
    },
  );

  it.each(["optional", "permissive"])("passes in %s mode, without claims", async (mode) => {
    const { url } = world.gateway;
    expect((await callWith(`${url}/${mode}`, undefined)).status).toBe(200);
    expect((await callWith(`${url}/${mode}-ruled`, undefined)).status).toBe(403);
  });
});

describe("an invalid token", () => {
  const forgeries: Record<string, () => Promise<string> | string> = {
    "is no token": () => "abc",
    "has three parts of nothing": () => "..",
    "has no issuer": () => sign(key, { aud: audience, exp: now() + 60 }),
    "has another issuer": () => sign(key, { ...claims(), iss: "https://evil.test" }),
    "has another audience": () => sign(key, { ...claims(), aud: "https://elsewhere.example" }),
    "has no audience": () => sign(key, { iss: world.provider.issuer, exp: now() + 60 }),
    "has expired": () => sign(key, { ...claims(), exp: now() - 61 }),
    "never expires": () => sign(key, { iss: world.provider.issuer, aud: audience }),
    "expires at no number": () => sign(key, { ...claims(), exp: "tomorrow" }),
    "is for later": () => sign(key, { ...claims(), nbf: now() + 65 }),
    "is not signed": () => assemble({ alg: "none", kid: key.kid }, claims(), () => ""),
    "is signed with the public key as a secret": () =>
      assemble({ alg: "HS256", kid: key.kid }, claims(), hmacWithPublicKey(key)),
    "has an algorithm that is not its key's": () => sign(key, claims(), { alg: "PS256" }),
    "has another key under a known name": async () =>
      sign({ ...(await stranger()), kid: key.kid ?? "" }, claims()),
    "brings its own key": async () => {
      const own = await stranger();
      return sign(own, claims(), { jwk: publicPart(own) });
    },
    "names its key by a path": () => sign(key, claims(), { kid: "../../dev/null" }),
    "says that somebody has logged out": () => sign(key, claims(), { typ: "logout+jwt" }),
    "has the whole name of its type": () => sign(key, claims(), { typ: "application/logout+jwt" }),
    "has its type in another case, with parameters": () =>
      sign(key, claims(), { typ: "Application/Logout+JWT ; v=1" }),
    "has a type that is no text": () => sign(key, claims(), { typ: ["logout+jwt"] as never }),
    "is a proof of possession": () => sign(key, claims(), { typ: "DPoP+jwt" }),
    "has critical extensions": () => sign(key, claims(), { crit: ["b64"], b64: true }),
    "has a changed payload": async () => {
      const [head, , signature] = (await sign(key, claims())).split(".");
      const changed = Buffer.from(JSON.stringify({ ...claims(), sub: "admin" }));
      return `${head}.${changed.toString("base64url")}.${signature}`;
    },
    "is encrypted": async () => {
      const text = new TextEncoder().encode(JSON.stringify(claims()));
      const header = { alg: "RSA-OAEP-256", enc: "A256GCM" } as const;
      const encrypter = new CompactEncrypt(text).setProtectedHeader(header);
      return encrypter.encrypt(await importJWK(publicPart(key), header.alg));
    },
    "is too long": () => sign(key, { ...claims(), pad: "x".repeat(20_000) }),
    "is two tokens": async () => `${await world.provider.token()}, ${await world.provider.token()}`,
  };

  async function stranger(): Promise<JWK> {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    return { ...(await exportJWK(privateKey)), kid: "stranger", alg: "RS256" };
  }

  it.each(Object.entries(forgeries))("that %s gets a 401 without details", async (_, forge) => {
    const reached = world.upstream.count();
    const response = await callWith(`${world.gateway.url}/strict`, await forge());
    expect(response).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      body: "authentication failure: the token is not valid",
    });
    expect(world.upstream.count()).toBe(reached);
  });

  it("gets a 401 in optional mode, too", async () => {
    expect((await callWith(`${world.gateway.url}/optional`, "abc")).status).toBe(401);
  });

  it("passes in permissive mode, without claims", async () => {
    expect((await callWith(`${world.gateway.url}/permissive`, "abc")).status).toBe(200);
    expect((await callWith(`${world.gateway.url}/permissive-ruled`, "abc")).status).toBe(403);
  });
});

describe("clocks may differ by a minute", () => {
  it.each([
    ["expired 50 seconds ago", () => ({ exp: now() - 50 })],
    ["is for 50 seconds later", () => ({ nbf: now() + 50 })],
  ])("a token that %s is valid", async (_, times) => {
    const token = await sign(key, { ...claims(), ...times() });
    expect((await callWith(`${world.gateway.url}/strict`, token)).status).toBe(200);
  });

  it("a cached token ends when it expires", async () => {
    const status = async (token: string) =>
      (await callWith(`${world.gateway.url}/strict`, token)).status;
    // On a busy machine two seconds may be over before the first request.
    const token = await eventually(async () => {
      const brief = await sign(key, { ...claims(), exp: now() - 58 });
      return (await status(brief)) === 200 ? brief : null;
    }, "a request in time");
    await expect.poll(() => status(token)).toBe(401);
  });
});

describe("modes with a valid token", () => {
  it.each(["optional", "permissive"])("%s: there are claims", async (path) => {
    const response = await callWith(
      `${world.gateway.url}/${path}-ruled`,
      await world.provider.token(),
    );
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body).headers).not.toHaveProperty("authorization");
  });
});
