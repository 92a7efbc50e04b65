import type { RequestListener } from "node:http";
import type { JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { callWith } from "../harness/call.ts";
import { startEcho } from "../harness/echo.ts";
import { audience, IdentityProvider } from "../harness/identity-provider.ts";
import { pause } from "../harness/pause.ts";
import { startFollowing } from "../harness/routes-gateway.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { jwtRoutes } from "./jwt-routes.ts";
import { startWorld, type World } from "./jwt-world.ts";

/** Milliseconds after which a gateway fetches keys again. */
const window = 10_100;

const failing: RequestListener = (_request, response) => response.writeHead(500).end();

describe("remote keys, when the gateway may fetch them again", () => {
  let rotated: World;
  let withdrawn: World;
  let hanging: World;
  let remembered: string;
  let unseen: readonly string[];

  // One wait for all three.
  beforeAll(async () => {
    const short = { cacheDuration: "100ms" };
    [rotated, withdrawn, hanging] = await Promise.all([
      startWorld(),
      startWorld(short),
      startWorld(short),
    ]);
    expect(await rotated.status(await rotated.provider.token())).toBe(200);
    remembered = await withdrawn.provider.token();
    expect(await withdrawn.status(remembered)).toBe(200);
    expect(await hanging.status(await hanging.provider.token())).toBe(200);
    unseen = await Promise.all(Array.from({ length: 5 }, () => hanging.provider.token()));
    await pause(window);
  });

  it("are fetched for the first token of a new one", async () => {
    const { provider, status } = rotated;
    await provider.rotate();
    expect(await status(await provider.token())).toBe(200);
    expect(provider.keySetRequests).toBe(2);
  });

  it("invalidate cached tokens when they are withdrawn", async () => {
    const { provider, status } = withdrawn;
    await provider.rotate();
    await expect.poll(() => status(remembered)).toBe(401);
  });

  it("stay in use while the provider hangs", async () => {
    const { provider, gateway, status } = hanging;
    let hasGivenUp = false;
    provider.fault = (_request, response) => {
      response.on("close", () => {
        hasGivenUp = true;
      });
    };
    const responses = await Promise.all(unseen.map((token) => status(token)));
    expect(responses).toEqual([200, 200, 200, 200, 200]);
    // The gateway still waits for the keys.
    expect(provider.keySetRequests).toBe(2);
    expect(hasGivenUp).toBe(false);
    await gateway.seen(/no key set from http:\S+\/jwks: .*the last good one stays in use/);
  });
});

describe("remote keys", () => {
  it.each(["RS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"])(
    "of %s verify tokens",
    async (alg) => {
      const { provider, status } = await startWorld({}, (provider) => provider.rotate(alg));
      expect(await status(await provider.token())).toBe(200);
    },
  );

  it("are fetched once for many concurrent tokens", async () => {
    const { provider, status } = await startWorld();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token()));
    const responses = await Promise.all(tokens.map((token) => status(token)));
    expect(new Set(responses)).toEqual(new Set([200]));
    expect(provider.keySetRequests).toBe(1);
  });

  it("are fetched at most once in 10 seconds, however many tokens name unknown ones", async () => {
    const { provider, status } = await startWorld();
    const token = await provider.token();
    const claims = { iss: provider.issuer, aud: audience, exp: now() + 600 };
    const unknown = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        sign(provider.keys[0] ?? {}, claims, { kid: `unknown-${i}` }),
      ),
    );
    const start = performance.now();
    expect(await status(token)).toBe(200);
    const responses = await Promise.all(unknown.map((token) => status(token)));
    expect(new Set(responses)).toEqual(new Set([401]));
    const intervals = Math.floor((performance.now() - start) / 10_000);
    expect(provider.keySetRequests).toBeLessThanOrEqual(1 + intervals);
    expect(await status(token)).toBe(200);
  });

  it("that can't be fetched are a 503", async () => {
    const { provider, status } = await startWorld();
    const token = await provider.token();
    provider.fault = failing;
    expect(await status(token)).toBe(503);
    expect(await status(token, "permissive")).toBe(200);
    expect(await status("abc")).toBe(401);
    provider.fault = undefined;
    await expect.poll(() => status(token)).toBe(200);
  });

  it("of a provider that is down do not stop the gateway from starting", async () => {
    const { status } = await startWorld({ keySetUrl: "http://127.0.0.1:1/jwks" });
    expect(await status("abc")).toBe(401);
  });

  it("are still known after a change of the configuration", async () => {
    const provider = await IdentityProvider.start();
    const upstream = await startEcho();
    const trusted = {
      issuer: provider.issuer,
      keySetUrl: provider.keySetUrl,
      cacheDuration: "5m",
      host: new URL(upstream.url).host,
    };
    const gateway = await startFollowing(jwtRoutes(trusted));
    const [first = "", second = ""] = await Promise.all([provider.token(), provider.token()]);
    expect((await callWith(`${gateway.url}/strict`, first)).status).toBe(200);
    provider.fault = failing;
    await gateway.change(jwtRoutes({ ...trusted, cacheDuration: "6m" }));
    expect((await callWith(`${gateway.url}/strict`, second)).status).toBe(200);
    expect(provider.keySetRequests).toBe(1);
  });

  const bad: Record<string, string> = {
    "is no JSON": "<html>",
    "is an array": "[]",
    "has no keys": "{}",
    "is too long": `{"keys":[],"pad":"${"x".repeat(600_000)}"}`,
  };
  it.each(Object.entries(bad))("are rejected from a document that %s", async (_, body) => {
    const { provider, status } = await startWorld();
    const token = await provider.token();
    provider.fault = (_request, response) => response.end(body);
    expect(await status(token)).toBe(503);
  });

  it("are not fetched through a redirect", async () => {
    const { provider, status } = await startWorld();
    const token = await provider.token();
    const location = `${provider.issuer}/elsewhere`;
    const requested: (string | undefined)[] = [];
    provider.fault = (request, response) => {
      requested.push(request.url);
      response.writeHead(302, { location }).end();
    };
    expect(await status(token)).toBe(503);
    expect(requested).toEqual(["/jwks"]);
  });

  it.each([
    ["a private key", (keys: JWK[]) => keys],
    ["a secret", (keys: JWK[]) => [...keys.map(publicPart), { kty: "oct", k: "c2VjcmV0" }]],
  ])("are rejected from a set that also contains %s", async (_, publish) => {
    const { provider, gateway, status } = await startWorld();
    const token = await provider.token();
    const body = JSON.stringify({ keys: publish(provider.keys) });
    provider.fault = (_request, response) => response.end(body);
    expect(await status(token)).toBe(503);
    await expect.poll(() => gateway.output).toContain("a symmetric or private key");
  });

  it("that can't be read are skipped", async () => {
    const { provider, status } = await startWorld();
    const token = await provider.token();
    const odd = [
      { kty: "AKP", alg: "ML-DSA-44", kid: "new" },
      { kty: "EC", crv: "P-256", x: "!" },
    ];
    const body = JSON.stringify({ keys: [...odd, ...provider.keys.map(publicPart)] });
    provider.fault = (_request, response) => response.end(body);
    expect(await status(token)).toBe(200);
  });
});
