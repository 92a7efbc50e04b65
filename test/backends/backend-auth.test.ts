import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { tell } from "../harness/tell.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";
import { exactRoutes, get } from "./exact-routes.ts";

describe("backendAuth", () => {
  it("a key takes the place of the client's Authorization, from the environment", async () => {
    const upstream = await startUpstream(tell);
    const gateway = await startGateway({
      env: { BACKEND_KEY: "s3cret" },
      listeners: [
        {
          routes: [
            {
              matches: [{ path: { exact: "/own" } }],
              policies: { backendAuth: { key: "${BACKEND_KEY}" } },
              backends: [
                { host: upstream, policies: { backendAuth: { key: "${OWN:-of-the-backend}" } } },
              ],
            },
            {
              policies: { backendAuth: { key: "${BACKEND_KEY}" } },
              backends: [{ host: upstream }],
            },
          ],
        },
      ],
    });
    const sent = { authorization: "Bearer of-the-client" };
    expect((await get(gateway, "/", sent)).seen.authorization).toBe("Bearer s3cret");
    expect((await get(gateway, "/own", sent)).seen.authorization).toBe("Bearer of-the-backend");
    expect(readFileSync(join(gateway.folder, "gateway.mjs"), "utf8")).not.toContain("s3cret");
    expect(gateway.output).not.toContain("s3cret");
  });

  it("a key in a file is read again when it changes, and may be a whole value of Authorization", async () => {
    const upstream = await startUpstream(tell);
    const folder = temporaryFolder();
    writeFileSync(join(folder, "key"), "of-a-file-1\n");
    writeFileSync(join(folder, "basic"), "Basic dTpw\n");
    const of = (file: string) => ({ backendAuth: { key: { file } } });
    const gateway = await startGateway({
      folder,
      listeners: exactRoutes({
        "/": { host: upstream, policies: of("key") },
        "/basic": { host: upstream, policies: of("basic") },
      }),
    });
    const sent = { authorization: "Bearer of-the-client" };
    const shown = async (path: string) => (await get(gateway, path, sent)).seen.authorization;
    expect(await shown("/")).toBe("Bearer of-a-file-1");
    expect(await shown("/basic")).toBe("Basic dTpw");
    writeFileSync(join(folder, "key"), "second\n");
    await expect.poll(() => shown("/")).toBe("Bearer second");
    expect(readFileSync(join(gateway.folder, "gateway.mjs"), "utf8")).not.toContain(
      "of-a-file-1\n",
    );
    await expect(
      startGateway({ listeners: exactRoutes({ "/": { host: upstream, policies: of("gone") } }) }),
    ).rejects.toThrow(/error: there is no file \S*gone \(.* binds\[\d+\]/);
  });

  it("passthrough gives the checked token to the backend; without it the backend sees none", async () => {
    const upstream = await startUpstream(tell);
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" };
    const jwtAuth = {
      issuer: "i",
      audiences: ["a"],
      jwks: { inline: JSON.stringify({ keys: [jwk] }) },
    };
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .setIssuer("i")
      .setAudience("a")
      .setSubject("s")
      .setExpirationTime("5m")
      .sign(privateKey);
    const gateway = await startGateway({
      listeners: [
        {
          routes: [
            {
              matches: [{ path: { exact: "/kept" } }],
              policies: { jwtAuth, backendAuth: { passthrough: {} } },
              backends: [{ host: upstream }],
            },
            { policies: { jwtAuth }, backends: [{ host: upstream }] },
          ],
        },
      ],
    });
    const sent = { authorization: `Bearer ${token}` };
    expect((await get(gateway, "/kept", sent)).seen.authorization).toBe(`Bearer ${token}`);
    expect((await get(gateway, "/", sent)).seen.authorization).toBeUndefined();
    expect((await get(gateway, "/kept", { authorization: "Bearer bad" })).status).toBe(401);
  });
});
