import path from "node:path";
import { expect, it } from "vitest";
import { callWith } from "../harness/call.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const ADMIN = "admin-key-of-this-test";

async function start(content = `${ADMIN}\n`) {
  const file = path.join(temporaryFolder({ "admin.key": content }), "admin.key");
  const port = await freePort();
  const gateway = await startGateway({
    env: { GWC_STATE_DIR: temporaryFolder() },
    file: { config: { keysApi: { port, key: { file } } } },
    listeners: [
      {
        routes: [
          {
            policies: {
              apiKey: { store: true },
              authorization: { rules: ['apiKey.team == "red"'] },
              directResponse: { status: 200, body: "hello" },
            },
          },
        ],
      },
    ],
  });
  const ask = async (method: string, path: string, body?: object, key: string | null = ADMIN) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await send(`http://127.0.0.1:${port}${path}`, method, headers, text);
    return { ...response, json: JSON.parse(response.body) };
  };
  return { gateway, ask };
}

it("makes, shows, changes, rotates and revokes keys, and shows a key once", async () => {
  const { gateway, ask } = await start();
  const statusOf = async (key: string) => (await callWith(gateway.url, key)).status;
  const limits = [{ counts: "cost", amount: 50, period: "month" }];
  const made = await ask("POST", "/v1/keys", {
    name: "team/ci",
    metadata: { team: "red" },
    limits,
  });
  expect(made).toMatchObject({ status: 201, headers: { "cache-control": "no-store" } });
  expect(made.json).toMatchObject({ name: "team/ci", metadata: { team: "red" }, limits });
  const { key } = made.json;
  expect(await statusOf(key)).toBe(200);
  const listed = await ask("GET", "/v1/keys");
  expect(listed.json.keys).toMatchObject([{ name: "team/ci", models: null, expires: null }]);
  expect(listed.body).not.toContain(key);
  expect(listed.body).not.toContain("digest");
  const changed = await ask("PATCH", "/v1/keys/team/ci", { metadata: { team: "blue" } });
  expect(changed.json).toMatchObject({ metadata: { team: "blue" }, limits });
  expect(await statusOf(key)).toBe(403);
  await ask("PATCH", "/v1/keys/team/ci", {
    metadata: { team: "red" },
    expires: "2126-01-31T00:00:00Z",
  });
  const rotated = await ask("POST", "/v1/keys/team/ci:rotate", { overlapSeconds: 0 });
  expect(rotated.json).toMatchObject({ name: "team/ci", expires: "2126-01-31T00:00:00.000Z" });
  expect([await statusOf(key), await statusOf(rotated.json.key)]).toEqual([401, 200]);
  expect((await ask("DELETE", "/v1/keys/team/ci")).json).toEqual({ revoked: 1 });
  expect(await statusOf(rotated.json.key)).toBe(401);
  await gateway.seen(/route=keys-api .*keys.action=revoke keys.name=team\/ci/);
  for (const secret of [key, rotated.json.key, ADMIN]) expect(gateway.output).not.toContain(secret);
});

it("says what is wrong with a request", async () => {
  const { ask } = await start();
  const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status;
  await ask("POST", "/v1/keys", { name: "ci" });
  expect(await statusOf("POST", "/v1/keys", { name: "ci" })).toBe(409);
  expect(await statusOf("POST", "/v1/keys", { name: "a b" })).toBe(400);
  expect(await statusOf("POST", "/v1/keys", { name: "x", expires: "soon" })).toBe(400);
  expect(await statusOf("PATCH", "/v1/keys/none", {})).toBe(404);
  expect(await statusOf("DELETE", "/v1/keys")).toBe(405);
  expect(await statusOf("GET", "/v1/other")).toBe(404);
  const unknown = await ask("POST", "/v1/keys", { name: "x", budget: 5 });
  expect(unknown).toMatchObject({
    status: 400,
    json: { error: { message: expect.stringContaining('"budget"') } },
  });
});

it("lets nobody in without its key, and bounds guesses of an address", async () => {
  const { ask } = await start(JSON.stringify({ keyHash: `sha256:${await digest(ADMIN)}` }));
  expect((await ask("GET", "/v1/keys")).status).toBe(200);
  const missing = await ask("GET", "/v1/keys", undefined, null);
  expect(missing).toMatchObject({
    status: 401,
    headers: { "www-authenticate": 'Bearer realm="keys"' },
  });
  for (let guess = 1; guess < 10; guess += 1)
    expect((await ask("GET", "/v1/keys", undefined, `guess-${guess}`)).status).toBe(401);
  const bounded = await ask("GET", "/v1/keys", undefined, "guess");
  expect(bounded.status).toBe(429);
  expect(Number(bounded.headers["retry-after"])).toBeGreaterThan(0);
  expect((await ask("GET", "/v1/keys")).status).toBe(429);
});

it("serves its OpenAPI document, and is on a port of its own", async () => {
  const { gateway, ask } = await start();
  const { json } = await ask("GET", "/openapi.json");
  expect(json).toMatchObject({ openapi: "3.1.0" });
  expect(Object.keys(json.paths)).toEqual([
    ...["/v1/keys", "/v1/keys/{name}", "/v1/keys/{name}:rotate"],
  ]);
  expect((await callWith(`${gateway.url}/v1/keys`, ADMIN)).status).toBe(401);
});

// key-without-expiry, key-without-limit
it("gwc audit --keys reports keys without an expiry, and those without a limit", async () => {
  const policies = { apiKey: { store: true }, directResponse: { status: 200 } };
  const config = { name: "shop", binds: [{ port: 3000, listeners: [{ routes: [{ policies }] }] }] };
  const cwd = temporaryFolder({ "gateway.yaml": JSON.stringify(config) });
  const env = { GWC_STATE_DIR: temporaryFolder() };
  const run = (...argv: string[]) => gwc(argv, { cwd, env });
  await run("keys", "create", "forever", "--rate", "5/minute");
  await run("keys", "create", "unlimited", "--expires", "90d");
  const { stdout } = await run("audit", "--keys", "--format", "text");
  expect(stdout).toContain('the key "forever" in the store never expires');
  expect(stdout).toContain('the key "unlimited" in the store has no limit and no budget');
  expect((await run("audit", "--format", "text")).stdout).not.toContain("in the store");
  const none = await gwc(["audit", "--keys"], { cwd });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("set GWC_STATE_DIR")]);
});

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(bytes).toString("hex");
}
