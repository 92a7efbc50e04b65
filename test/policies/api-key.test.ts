import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder();
  writeFileSync(join(folder, "plain"), "file-key\n");
  writeFileSync(join(folder, "json"), '{"key":"json-key","metadata":{"team":"green"}}');
  process.env.GWC_TEST_KEY = "environment-key";
  upstream = await startEcho();
  const keys = [
    { key: "${GWC_TEST_KEY}", metadata: { team: "blue", level: 3 } },
    { keyHash: `sha256:${createHash("sha256").update("hashed-key").digest("hex")}` },
    { file: join(folder, "plain"), metadata: { team: "red" } },
    { file: join(folder, "json"), metadata: { level: 1 } },
  ];
  const rules = { rules: ['apiKey.team == "blue" || apiKey.team == "green"'] };
  gateway = await startRoutes(
    {
      strict: { policies: { apiKey: { keys } } },
      cluster: { policies: { apiKeyAuthentication: { keys } } },
      optional: { policies: { apiKey: { mode: "optional", keys } } },
      permissive: { policies: { apiKey: { mode: "permissive", keys } } },
      ruled: { policies: { apiKey: { mode: "permissive", keys }, authorization: rules } },
      header: { policies: { apiKey: { keys, location: { header: { name: "X-API-Key" } } } } },
    },
    upstream,
  );
});

afterAll(async () => {
  delete process.env.GWC_TEST_KEY;
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const status = async (route: string, headers: Record<string, string>) =>
  (await call(`${gateway.url}/${route}`, headers)).status;

describe("apiKey", () => {
  it("keys from the environment, from files and by digest are accepted", async () => {
    for (const key of ["environment-key", "hashed-key", "file-key", "json-key"]) {
      expect(await status("strict", bearer(key))).toBe(200);
      expect(await status("cluster", bearer(key))).toBe(200);
    }
  });

  it("anything else is answered 401", async () => {
    const missing = await call(`${gateway.url}/strict`, {});
    expect(missing).toMatchObject({
      status: 401,
      body: "api key authentication failure: no API Key found",
    });
    const wrong = await call(`${gateway.url}/strict`, bearer("environment-ke"));
    expect(wrong).toMatchObject({
      status: 401,
      body: "api key authentication failure: invalid credentials",
    });
    expect(await status("strict", { authorization: "Basic environment-key" })).toBe(401);
    expect(await status("strict", bearer(""))).toBe(401);
    expect(await status("strict", bearer("x".repeat(30_000)))).toBe(401);
  });

  it("the key does not reach the upstream", async () => {
    const { headers }: Echoed = JSON.parse(
      (await call(`${gateway.url}/strict`, bearer("file-key"))).body,
    );
    expect(headers).not.toHaveProperty("authorization");
  });

  it("the modes differ in what they refuse", async () => {
    expect(await status("optional", {})).toBe(200);
    expect(await status("optional", bearer("wrong"))).toBe(401);
    expect(await status("permissive", {})).toBe(200);
    expect(await status("permissive", bearer("wrong"))).toBe(200);
  });

  it("rules read the metadata", async () => {
    expect(await status("ruled", bearer("environment-key"))).toBe(200);
    expect(await status("ruled", bearer("json-key"))).toBe(200);
    expect(await status("ruled", bearer("file-key"))).toBe(403);
    expect(await status("ruled", bearer("wrong"))).toBe(403);
    expect(await status("ruled", {})).toBe(403);
  });

  it("another header may contain it", async () => {
    expect(await status("header", { "x-api-key": "file-key" })).toBe(200);
    expect(await status("header", bearer("file-key"))).toBe(401);
  });

  it("a file that changes is read again", async () => {
    writeFileSync(join(folder, "plain"), "other-key\n");
    while ((await status("strict", bearer("other-key"))) !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await status("strict", bearer("file-key"))).toBe(401);
    expect(await status("strict", bearer("json-key"))).toBe(200);
  });

  it("a key in plain text causes a warning", () => {
    expect(findings({ policies: { apiKey: { keys: [{ key: "abc" }] } } })).toEqual([
      "literal-secret",
    ]);
  });
});
