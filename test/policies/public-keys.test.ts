import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startRoutes } from "./routes.ts";

const keys = {
  ec: generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const pem = ({ privateKey }: (typeof keys)["ec"]) =>
  privateKey.export({ type: "pkcs8", format: "pem" }).toString();

it("servers verify tokens by the keys that a route publishes", async () => {
  const own = [
    { signingKey: "${SIGNING_KEY}", kid: "one", alg: "ES256" },
    { signingKey: "${RSA_KEY}" },
  ];
  const signing = (jwtSign: object) => ({ policies: { backendAuth: { jwtSign } } });
  const signer = await startRoutes(
    {
      jwks: { policies: { publicKeys: { keys: own } }, backends: [] },
      ec: signing({ signingKey: "${SIGNING_KEY}", kid: "one", alg: "ES256" }),
      rsa: signing({ signingKey: "${RSA_KEY}" }),
    },
    await startEcho(),
    {},
    { RSA_KEY: pem(keys.rsa), SIGNING_KEY: pem(keys.ec) },
  );
  const url = `${signer.url}/jwks`;
  const published = await send(url, "GET");
  expect(published.headers).toMatchObject({ "content-type": "application/jwk-set+json" });
  expect(published.body).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
  const keySet = createRemoteJWKSet(new URL(url));
  const token = async (route: string): Promise<string> => {
    const { body } = await send(`${signer.url}/${route}`, "GET");
    return JSON.parse(body).headers.authorization.replace("Bearer ", "");
  };
  expect((await jwtVerify(await token("ec"), keySet)).protectedHeader.kid).toBe("one");
  await jwtVerify(await token("rsa"), keySet);
  expect((await send(url, "POST")).status).toBe(405);
});

it("publishes a key that replaces another in its file", async () => {
  const folder = temporaryFolder({ "key.pem": pem(keys.ec) });
  const policies = { publicKeys: { keys: [{ signingKey: { file: "key.pem" } }] } };
  const { url } = await startGateway({ listeners: [{ routes: [{ policies }] }], folder });
  const published = async () => JSON.parse((await send(url, "GET")).body).keys[0].kty;
  expect(await published()).toBe("EC");
  writeFileSync(path.join(folder, "key.pem"), "unfinished");
  writeFileSync(path.join(folder, "key.pem"), pem(keys.rsa));
  await eventually(async () => (await published()) === "RSA" || null, "the new key");
});

it("does not start with a key for another algorithm, and does not say what it is", async () => {
  const policies = { publicKeys: { keys: [{ signingKey: "${SIGNING_KEY}", alg: "RS256" }] } };
  const env = { SIGNING_KEY: pem(keys.ec) };
  const started = startGateway({ listeners: [{ routes: [{ policies }] }], env });
  const error = await started.then(
    () => new Error("it has started"),
    (thrown: Error) => thrown,
  );
  expect(error.message).toContain("a published key is not a key for RS256");
  expect(error.message).not.toContain("BEGIN");
});
