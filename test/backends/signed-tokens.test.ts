import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startRoutes } from "../policies/routes.ts";

const keys = {
  ec: generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const pem = ({ privateKey }: (typeof keys)["ec"]) =>
  privateKey.export({ type: "pkcs8", format: "pem" }).toString();
let gateway: Gateway;

beforeAll(async () => {
  const upstream = await startEcho();
  const signing = (jwtSign: object) => ({ policies: { backendAuth: { jwtSign } } });
  gateway = await startRoutes(
    {
      plain: signing({
        signingKey: "${RSA_KEY}",
        claims: { iss: "gateway", aud: ["api"], admin: false },
      }),
      placed: signing({
        signingKey: "${SIGNING_KEY}",
        alg: "ES256",
        kid: "one",
        ttl: "60s",
        location: { header: { name: "X-Token" } },
      }),
    },
    upstream,
    {},
    { RSA_KEY: pem(keys.rsa), SIGNING_KEY: pem(keys.ec) },
  );
});

async function sent(route: string, headers: Record<string, string> = {}) {
  const { body } = await send(`${gateway.url}/${route}`, "GET", headers);
  return JSON.parse(body).headers;
}

describe("jwtSign", () => {
  it("sends a token with the configured claims and a lifetime of five minutes", async () => {
    const { authorization } = await sent("plain");
    const token = authorization.replace("Bearer ", "");
    const { payload, protectedHeader } = await jwtVerify(token, keys.rsa.publicKey);
    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT" });
    expect(payload).toMatchObject({ iss: "gateway", aud: ["api"], admin: false });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(310);
  });

  it("replaces the client's own token", async () => {
    const { authorization } = await sent("plain", { authorization: "Bearer forged" });
    await jwtVerify(authorization.replace("Bearer ", ""), keys.rsa.publicKey);
  });

  it("sends the token in another place, with its algorithm and key ID", async () => {
    const headers = await sent("placed", { "x-token": "forged", authorization: "Bearer mine" });
    const { protectedHeader } = await jwtVerify(headers["x-token"], keys.ec.publicKey);
    expect(protectedHeader).toEqual({ alg: "ES256", kid: "one", typ: "JWT" });
    expect(headers.authorization).toBe("Bearer mine");
  });

  it("prints the key set of a file", async () => {
    const cwd = temporaryFolder({ "ec.pem": pem(keys.ec) });
    const { stdout } = await gwc(["keys", "public", "ec.pem", "--kid", "one"], { cwd });
    await jwtVerify((await sent("placed"))["x-token"], createLocalJWKSet(JSON.parse(stdout)));
  });

  it("a file without a private key has no key set", async () => {
    const cwd = temporaryFolder({ "words.pem": "secret words" });
    const { code, stdout, stderr } = await gwc(["keys", "public", "words.pem"], { cwd });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe('error: "words.pem" is not a private key in PEM\n');
  });

  it("requests within a tenth of its lifetime share a token", async () => {
    const first = await sent("plain");
    expect((await sent("plain")).authorization).toBe(first.authorization);
  });

  it.each([
    ["a key of another kind", pem(keys.ec), "is not a key for RS256"],
    ["no key", "secret words", "is not a private key in PEM"],
  ])("does not start with %s, and does not say what it is", async (_, key, problem) => {
    const jwtSign = { signingKey: "${SIGNING_KEY}" };
    const started = startGateway({
      listeners: [
        {
          routes: [{ backends: [{ host: "127.0.0.1:1", policies: { backendAuth: { jwtSign } } }] }],
        },
      ],
      env: { SIGNING_KEY: key },
    });
    const error = await started.then(
      () => new Error("it has started"),
      (thrown: Error) => thrown,
    );
    expect(error.message).toContain(problem);
    expect(error.message).not.toMatch(/secret words|BEGIN/);
  });
});
