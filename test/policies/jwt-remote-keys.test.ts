import type { RequestListener } from "node:http";
import type { JWK } from "jose";
import { describe, expect, onTestFinished, test } from "vitest";
import { callWith } from "../harness/call.ts";
import { startFollowing } from "../harness/compiled-routes.ts";
import { startEcho } from "../harness/echo.ts";
import { audience, IdentityProvider } from "../harness/identity-provider.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { jwtRoutes } from "./jwt-routes.ts";
import { pause, startWorld } from "./jwt-world.ts";

/** Milliseconds after which a gateway asks for keys again. */
const window = 10_100;

const failing: RequestListener = (_request, response) => response.writeHead(500).end();

describe("remote keys", () => {
  test.each(["RS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"])(
    "of %s check tokens",
    async (alg) => {
      const { provider, status } = await startWorld(onTestFinished, {}, (provider) =>
        provider.rotate(alg),
      );
      expect(await status(await provider.token())).toBe(200);
    },
  );

  test("are fetched once for many tokens at the same time", async () => {
    const { provider, status } = await startWorld(onTestFinished);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token()));
    const responses = await Promise.all(tokens.map((token) => status(token)));
    expect(new Set(responses)).toEqual(new Set([200]));
    expect(provider.keySetRequests).toBe(1);
  });

  test("are fetched at most once in 10 seconds, however many tokens name unknown ones", async () => {
    const { provider, status } = await startWorld(onTestFinished);
    const token = await provider.token();
    expect(await status(token)).toBe(200);
    const claims = { iss: provider.issuer, aud: audience, exp: now() + 60 };
    const unknown = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        sign(provider.keys[0] ?? {}, claims, { kid: `unknown-${i}` }),
      ),
    );
    const responses = await Promise.all(unknown.map((token) => status(token)));
    expect(new Set(responses)).toEqual(new Set([401]));
    expect(provider.keySetRequests).toBe(1);
    expect(await status(token)).toBe(200);
  });

  test.concurrent("that were rotated are fetched again for the first token of a new one", async ({
    expect,
    onTestFinished,
  }) => {
    const { provider, status } = await startWorld(onTestFinished);
    expect(await status(await provider.token())).toBe(200);
    await pause(window);
    await provider.rotate();
    expect(await status(await provider.token())).toBe(200);
    expect(provider.keySetRequests).toBe(2);
  });

  test.concurrent("that were withdrawn end the tokens that are remembered", async ({
    expect,
    onTestFinished,
  }) => {
    const { provider, status } = await startWorld(onTestFinished, { cacheDuration: "200ms" });
    const token = await provider.token();
    expect(await status(token)).toBe(200);
    await provider.rotate();
    await pause(window);
    await expect.poll(() => status(token), { timeout: 5000 }).toBe(401);
  });

  test.concurrent("stay in use while the provider hangs, and it delays nobody", async ({
    expect,
    onTestFinished,
  }) => {
    const { provider, gateway, status } = await startWorld(onTestFinished, {
      cacheDuration: "100ms",
    });
    expect(await status(await provider.token())).toBe(200);
    const tokens = await Promise.all(Array.from({ length: 5 }, () => provider.token()));
    provider.fault = () => {};
    await pause(window);
    const began = performance.now();
    for (const token of tokens) expect(await status(token)).toBe(200);
    // The gateway gives up on the provider after 5 seconds.
    expect(performance.now() - began).toBeLessThan(3000);
    await expect
      .poll(() => gateway.output(), { timeout: 9000 })
      .toMatch(/no key set from http:\S+\/jwks: .*the last good one stays in use/);
  });

  test("that can't be had are a 503, until they can", async () => {
    const { provider, status } = await startWorld(onTestFinished);
    const token = await provider.token();
    provider.fault = failing;
    expect(await status(token)).toBe(503);
    expect(await status(token, "permissive")).toBe(200);
    expect(await status("abc")).toBe(401);
    provider.fault = undefined;
    await expect.poll(() => status(token), { timeout: 5000, interval: 200 }).toBe(200);
  });

  test("of a provider that is down do not stop the gateway from starting", async () => {
    const { status } = await startWorld(onTestFinished, { keySetUrl: "http://127.0.0.1:1/jwks" });
    expect(await status("abc")).toBe(401);
  });

  test("are still known after a change of the configuration", async () => {
    const provider = await IdentityProvider.start();
    onTestFinished(() => provider.stop());
    const upstream = await startEcho();
    onTestFinished(() => upstream.stop());
    const trusted = {
      issuer: provider.issuer,
      keySetUrl: provider.keySetUrl,
      cacheDuration: "5m",
      host: new URL(upstream.url).host,
    };
    const gateway = await startFollowing(jwtRoutes(trusted));
    onTestFinished(() => gateway.stop());
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
  test.each(Object.entries(bad))("are not taken from a document that %s", async (_, body) => {
    const { provider, status } = await startWorld(onTestFinished);
    const token = await provider.token();
    provider.fault = (_request, response) => response.end(body);
    expect(await status(token)).toBe(503);
  });

  test("are not taken from where a redirect leads", async () => {
    const { provider, status } = await startWorld(onTestFinished);
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

  test.each([
    ["a private key", (keys: JWK[]) => keys],
    ["a secret", (keys: JWK[]) => [...keys.map(publicPart), { kty: "oct", k: "c2VjcmV0" }]],
  ])("are not taken from a set that also holds %s", async (_, publish) => {
    const { provider, gateway, status } = await startWorld(onTestFinished);
    const token = await provider.token();
    const body = JSON.stringify({ keys: publish(provider.keys) });
    provider.fault = (_request, response) => response.end(body);
    expect(await status(token)).toBe(503);
    await expect.poll(() => gateway.output()).toContain("a symmetric or private key");
  });

  test("that can't be read are left out, the others stay", async () => {
    const { provider, status } = await startWorld(onTestFinished);
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
