import { connect } from "node:http2";
import { exportJWK, generateKeyPair } from "jose";
import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

async function startTarget() {
  const host = await startUpstream((_request, response) => response.end("ok"));
  const { publicKey } = await generateKeyPair("RS256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "one", alg: "RS256" }];
  const jwks = { inline: JSON.stringify({ keys }) };
  const policies: Readonly<Record<string, object>> = {
    jwt: { jwtAuth: { issuer: "https://issuer.test", audiences: ["a"], jwks } },
    basic: { basicAuth: { htpasswd: "${USERS}" } },
    key: { apiKey: { keys: [{ key: "${KEY}" }] } },
  };
  const routes = Object.entries(policies).map(([name, each]) => ({
    matches: [{ path: { exact: `/${name}` } }],
    policies: each,
    backends: [{ host }],
  }));
  const users = "sha:{SHA}DAQZCQEbf+4ltq84dNFKcCdGjl4=";
  const env = { USERS: users, KEY: "the-key-of-this-gateway" };
  return startGateway({ env, listeners: [{ routes }] });
}

/** Part of every credential; no log may contain it. */
const canary = "Q0FOQVJZ";

const values = (size: number) =>
  ["Bearer ", "Bearer a.b.", "Basic ", "Basic Og==", ""].map(
    (scheme) => `${scheme}${canary}${"x".repeat(size)}`,
  );

it("an Authorization of 1 MB is a 431 on every route that reads it, one that is as long as allowed a 401", async () => {
  const gateway = await startTarget();
  const before = await heldMegabytes(gateway);
  const ask = async (path: string, value: string) => {
    const client = new RawClient(gateway.port);
    const fields = `Host: a\r\nConnection: close\r\nAuthorization: ${value}`;
    client.send(`GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`);
    await client.closes();
    return client.received.slice(9, 12);
  };
  for (const path of ["/jwt", "/basic", "/key"]) {
    for (const value of values(1_000_000)) expect(await ask(path, value)).toBe("431");
    for (const value of values(60_000)) expect(await ask(path, value)).toBe("401");
  }
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(10);
  await pause(100);
  expect(gateway.output).not.toContain(canary);
  expect(gateway.output).not.toContain("the-key-of-this-gateway");
});

it("and so it is with HTTP/2", async () => {
  const gateway = await startTarget();
  for (const path of ["/jwt", "/basic", "/key"]) {
    const session = connect(`http://127.0.0.1:${gateway.port}`, { maxSendHeaderBlockLength: 2e6 });
    session.on("error", () => {});
    onTestFinished(() => session.destroy());
    const ask = (authorization: string) =>
      new Promise((resolve) => {
        const stream = session.request({ ":path": path, authorization });
        stream.on("response", (headers) => resolve(headers[":status"]));
        stream.on("error", () => resolve("reset"));
        stream.on("close", () => resolve("reset"));
        stream.resume();
      });
    for (const value of values(50_000)) expect(await ask(value)).toBe(401);
    expect(["reset", 431]).toContain(await ask(values(1_000_000)[0] ?? ""));
  }
  expect(gateway.output).not.toContain(canary);
  expect((await fetch(`http://127.0.0.1:${gateway.port}/key`)).status).toBe(401);
});
