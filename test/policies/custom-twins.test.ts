import { createHash } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { CSRF_POLICY, HEADERS_POLICY } from "./public-twins.ts";
import { startRoutes } from "./routes.ts";

/** `apiKey` with hashed keys on the public interface. */
const keys = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  identity: true,
  options: { hashes: { type: "strings", required: true } },
  provides: { key: "string" },
  async request(request, { hashes }) {
    const [, given] = /^Bearer +(\\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const refused = (shown: string) =>
      request.refuse(401, "api key authentication failure: " + shown, { "www-authenticate": "Bearer" });
    if (given === undefined) return refused("no API Key found");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(given)));
    const key = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (!hashes.includes(key)) return refused("invalid credentials");
    request.headers.delete("authorization");
    return { key };
  },
});
`;

const hash = createHash("sha256").update("open-sesame").digest("hex");
const origin = "https://app.example";

let gateway: Gateway;

beforeAll(async () => {
  const custom = (use: string, options: object) => ({
    policies: { custom: [{ use: `./policies/${use}.ts`, with: options }] },
  });
  gateway = await startRoutes(
    {
      csrf: { policies: { csrf: { additionalOrigins: [origin] } } },
      "own-csrf": custom("csrf", { additionalOrigins: [origin] }),
      keys: { policies: { apiKey: { keys: [{ keyHash: `sha256:${hash}` }] } } },
      "own-keys": custom("keys", { hashes: [hash] }),
      headers: { policies: { requestHeaderModifier: { set: { "x-a": "1" }, remove: ["x-b"] } } },
      "own-headers": custom("headers", { name: "x-a", value: "1", remove: "x-b" }),
    },
    await startEcho(),
    {
      "policies/csrf.ts": CSRF_POLICY,
      "policies/headers.ts": HEADERS_POLICY,
      "policies/keys.ts": keys,
    },
  );
});

async function outcome(route: string, method: string, headers: Record<string, string>) {
  const { status, body } = await send(`${gateway.url}/${route}`, method, headers);
  return [status, status === 200 ? /authorization/i.test(body) : body];
}

it("csrf decides the same as a policy on the public interface", async () => {
  const sites = [undefined, "same-origin", "none", "same-site", "cross-site", "other"];
  const origins = [
    ...[
      undefined,
      origin,
      "https://shop.example",
      "http://shop.example",
      "null",
      "",
      "shop.example",
    ],
    ...[
      "https://shop.example:8443",
      "https://shop.example.evil.example",
      "https://app.example:8443",
    ],
  ];
  const outcomes = new Set<number>();
  for (const method of ["GET", "OPTIONS", "POST", "DELETE"])
    for (const host of ["shop.example", "shop.example:443", "other.example"])
      for (const site of sites)
        for (const from of origins) {
          const headers = {
            host,
            ...(site !== undefined && { "sec-fetch-site": site }),
            ...(from !== undefined && { origin: from }),
          };
          const own = await outcome("own-csrf", method, headers);
          expect([headers, own]).toEqual([headers, await outcome("csrf", method, headers)]);
          outcomes.add(Number(own[0]));
        }
  expect([...outcomes].sort()).toEqual([200, 403]);
});

it("apiKey decides the same as a policy on the public interface", async () => {
  const values = [
    ...[undefined, "Bearer open-sesame", "Bearer  wrong", "bearer wrong", "Basic d3Jvbmc=", ""],
    ...["Bearer", "Bearer open", "wrong"],
  ];
  for (const authorization of values) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const own = await outcome("own-keys", "GET", headers);
    expect([authorization, own]).toEqual([authorization, await outcome("keys", "GET", headers)]);
  }
});

it("requestHeaderModifier sends the same as a policy on the public interface", async () => {
  for (const headers of [
    {},
    { "x-a": "2" },
    { "X-A": "2", "x-b": "3" },
    { "X-B": "", "x-c": "4" },
  ]) {
    const [own, built] = await Promise.all(
      ["own-headers", "headers"].map((route) => send(`${gateway.url}/${route}`, "GET", headers)),
    );
    expect(own?.body.replaceAll("own-headers", "headers")).toBe(built?.body);
    expect(own?.body).toMatch(/"x-a":"1"/);
  }
});
