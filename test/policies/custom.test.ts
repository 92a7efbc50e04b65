import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startRoutes } from "./routes.ts";

const tenant = `import { definePolicy } from "gwc/policy";
import { known } from "./lib/known.ts";

/** Rejects requests of unknown tenants. */
export default definePolicy({
  options: { header: { type: "string", default: "x-tenant" }, names: { type: "strings" } },
  provides: { tenant: "string", size: "integer" },
  request(request, { header, names = known }) {
    const tenant = request.headers.get(header);
    if (tenant === null) return request.refuse(403, "no tenant", { "x-hint": header });
    if (!names.includes(tenant)) return request.refuse(404, "unknown tenant");
    request.headers.set("x-tenant-id", tenant.toUpperCase());
    return { tenant, size: tenant.length };
  },
});
`;

const bad = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  provides: { user: "string" },
  request(request) {
    switch (request.headers.get("x-do")) {
      case "throw":
        throw new Error("it broke");
      case "line-break":
        request.headers.set("x-user", "a\\r\\nx-admin: 1");
        return;
      case "framing":
        request.headers.set("content-length", "0");
        return;
      case "rubbish":
        return JSON.parse("5");
      case "unprovided":
        return JSON.parse('{"admin":true}');
      case "wrong-type":
        return JSON.parse('{"user":5}');
      case "forged":
        return JSON.parse('{"status":200,"message":"","headers":{}}');
      case "promise":
        return JSON.parse("null") ?? Promise.resolve({ user: "x" });
      case "status":
        return request.refuse(200, "fine");
      case "refusal-break":
        return request.refuse(403, "no", { "x-hint": "a\\r\\nx-admin: 1" });
      case "refusal-length":
        return request.refuse(403, "no", { "Content-Length": "0" });
      case "refusal-changed":
        return Object.assign(request.refuse(403, "no"), { status: 200 });
      case "refusal-copied":
        return Object.create(request.refuse(403, "no"), { status: { value: 200 } });
      case "response":
        return JSON.parse("null") ?? new Response("no", { status: 403 });
      case "unreadable":
        throw new Proxy(new Error("no"), {
          getPrototypeOf() {
            throw new Error("no prototype");
          },
        });
      case "shared":
        Object.assign(request.custom, { user: "root" });
        return;
      case "list":
        return JSON.parse("[]");
      case "refusal-json":
        return request.refuse(403, '{"error":"no"}', { "Content-Type": "application/json" });
      case "options":
        Object.assign(request, { method: "DELETE" });
        return;
    }
    return { user: "nobody" };
  },
});
`;

const slow = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  async request(request) {
    const wait = Number(request.headers.get("x-wait") ?? "0");
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (wait === 1) return request.refuse(429, "later");
    request.headers.append("x-waited", String(wait));
  },
});
`;

const head = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { status: { type: "integer" }, fails: { type: "boolean", default: false } },
  response(response, { status, fails }) {
    if (fails) throw new Error("no head");
    response.headers.set("x-path", response.request.path);
    response.headers.delete("x-powered-by");
    if (status !== undefined) response.status = status;
  },
});
`;

const body = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { key: { type: "string", secret: true }, words: { type: "strings", default: ["a"] } },
  async requestBody(bytes, { key = "", words }, request) {
    const text = new TextDecoder().decode(bytes);
    if (text === "grow") return "x".repeat(3_000_000);
    if (text === "keep") Reflect.apply(Array.prototype.push, words, ["b"]);
    if (text.includes("forbidden")) return request.refuse(422, "forbidden word");
    const secret = new TextEncoder().encode(key);
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const imported = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
    const signature = await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text));
    request.headers.set("x-signature", hex(new Uint8Array(signature)));
    return text.replaceAll("red", "blue");
  },
});

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
`;

let gateway: Gateway;

beforeAll(async () => {
  // Responds with the headers and the body that it got.
  const url = await startUpstream((request, response) => {
    response.write(JSON.stringify(request.headers));
    request.pipe(response);
  });
  const files = {
    "policies/tenant.ts": tenant,
    "policies/lib/known.ts": 'export const known: readonly string[] = ["acme", "globex"];\n',
    "policies/bad.ts": bad,
    "policies/slow.ts": slow,
    "policies/head.ts": head,
    "policies/body.ts": body,
  };
  const custom = (...entries: readonly object[]) => ({ policies: { custom: entries } });
  gateway = await startRoutes(
    {
      tenant: {
        policies: {
          custom: [{ use: "./policies/tenant.ts", with: { header: "x-team" } }],
          authorization: { rules: ['custom.tenant == "acme" && custom.size == 4'] },
        },
      },
      chosen: custom({ use: "./policies/tenant.ts", with: { names: ["initech"] } }),
      bad: custom({ use: "policies/bad.ts" }),
      open: custom({ use: "policies/bad.ts", failureMode: "failOpen" }),
      slow: custom({ use: "policies/slow.ts", timeout: "3s" }),
      head: custom({ use: "policies/head.ts", with: { status: 299 } }),
      "bad-head": custom({ use: "policies/head.ts", with: { fails: true } }),
      "refused-head": custom({ use: "policies/head.ts" }, { use: "policies/tenant.ts" }),
      body: custom({ use: "policies/body.ts", with: { key: "${SIGNING_KEY}" } }),
    },
    { url },
    files,
    { SIGNING_KEY: "a secret" },
  );
});

const get = (path: string, headers: Record<string, string> = {}) =>
  send(`${gateway.url}/${path}`, "GET", headers);

describe("a custom policy's request hook", () => {
  it("refuses requests with its own status, message and headers", async () => {
    const refused = await get("tenant");
    expect([refused.status, refused.body]).toEqual([403, "no tenant"]);
    expect(refused.headers["x-hint"]).toBe("x-team");
    await expect.poll(() => gateway.output).toMatch(/custom\.policy=tenant reason=Custom/);
  });

  it("sets headers of the request to the backend", async () => {
    const passed = await get("chosen", { "x-tenant": "initech" });
    expect(passed.status).toBe(200);
    expect(passed.body).toContain("INITECH");
  });

  it("provides values that later rules read", async () => {
    expect((await get("tenant", { "x-team": "acme" })).status).toBe(200);
    expect((await get("tenant", { "x-team": "globex" })).status).toBe(403);
    expect((await get("tenant", { "x-team": "other" })).status).toBe(404);
  });

  it.each([
    ["throw", "request: Error: it broke (policies/bad.ts:8)"],
    ["line-break", "not a valid value of the header"],
    ["framing", "the gateway sets the header"],
    ["rubbish", "something other than a refusal"],
    ["unprovided", "is not in provides"],
    ["wrong-type", "is not of the type"],
    ["forged", "is not in provides"],
    ["promise", "must be declared async"],
    ["status", "a status from 400 to 599"],
    ["refusal-break", "(policies/bad.ts:28)"],
    ["refusal-length", "itself (policies/bad.ts:30)"],
    ["refusal-changed", "Cannot assign to read only property 'status'"],
    ["response", "other than a refusal or provided values"],
    ["unreadable", "threw an Error that cannot be read"],
    ["shared", "object is not extensible"],
    ["list", "other than a refusal or provided values"],
    ["refusal-copied", "other than a refusal or provided values"],
    ["options", "which has only a getter"],
  ])("closes the request if it fails: %s", async (what, logged) => {
    const { status, body: text } = await get("bad", { "x-do": what });
    expect([status, text]).toEqual([500, "internal error"]);
    await expect.poll(() => gateway.output).toContain(logged);
  });

  it("refuses with a body of its own type", async () => {
    const { status, headers, body: text } = await get("bad", { "x-do": "refusal-json" });
    expect([status, headers["content-type"], text]).toEqual([
      403,
      "application/json",
      '{"error":"no"}',
    ]);
  });

  it("passes the request on failure if failureMode is failOpen", async () => {
    expect((await get("open", { "x-do": "throw" })).status).toBe(200);
  });

  it("is awaited if it is async, and cancelled after its timeout", async () => {
    const waited = await get("slow", { "x-wait": "5" });
    expect(waited.body).toContain("x-waited");
    expect((await get("slow", { "x-wait": "1" })).status).toBe(429);
    expect((await get("slow", { "x-wait": "600000" })).status).toBe(500);
    await expect.poll(() => gateway.output).toContain("took longer than 3000 ms");
  });
});

describe("a custom policy's other hooks", () => {
  it.each([
    ["grow", "a hook returned a body of more than 2097152 bytes"],
    ["keep", "object is not extensible"],
  ])("cannot outgrow the limit of bodies, nor change options: %s", async (what, logged) => {
    expect((await send(`${gateway.url}/body`, "POST", {}, what)).status).toBe(500);
    await expect.poll(() => gateway.output).toContain(logged);
  });

  it("change the head of responses, also of refusals", async () => {
    const changed = await get("head");
    expect(changed.status).toBe(299);
    expect(changed.headers["x-path"]).toBe("/head");
    const refused = await get("refused-head");
    expect(refused.status).toBe(403);
    expect(refused.headers["x-path"]).toBe("/refused-head");
  });

  it("replace the response if they fail", async () => {
    const { status, body: text } = await get("bad-head");
    expect([status, text]).toEqual([500, "internal error"]);
  });

  it("read and replace the body of the request with a secret from the environment", async () => {
    const { createHmac } = await import("node:crypto");
    const signed = createHmac("sha256", "a secret").update("a red car").digest("hex");
    const passed = await send(`${gateway.url}/body`, "POST", {}, "a red car");
    expect(passed.body).toContain(signed);
    expect(passed.body).toContain("a blue car");
    const refused = await send(`${gateway.url}/body`, "POST", {}, "a forbidden car");
    expect(refused.status).toBe(422);
  });

  it("are counted by policy, hook and result", async () => {
    const metrics = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
    const text = await metrics.text();
    expect(text).toContain(
      'gwc_custom_policy_calls_total{policy="tenant",hook="request",result="refused"}',
    );
    expect(text).toContain(
      'gwc_custom_policy_calls_total{policy="slow",hook="request",result="timeout"} 1',
    );
  });
});
