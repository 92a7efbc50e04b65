import { beforeAll, describe, expect, it } from "vitest";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  gateway = await startRoutes(
    {
      own: { policies: { csrf: {} } },
      others: { policies: { csrf: { additionalOrigins: ["https://App.example:443"] } } },
    },
    upstream,
  );
});

const host = "shop.example";
const post = async (headers: Record<string, string>, route = "own") =>
  (await send(`${gateway.url}/${route}`, "POST", { host, ...headers })).status;

describe("csrf", () => {
  it("safe methods pass from anywhere", async () => {
    const foreign = { host, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      expect((await send(`${gateway.url}/own`, method, foreign)).status).toBe(200);
    }
  });

  it("requests that no browser has sent pass", async () => {
    expect(await post({})).toBe(200);
  });

  it("Sec-Fetch-Site decides if it is present", async () => {
    expect(await post({ "sec-fetch-site": "same-origin", origin: "https://evil.example" })).toBe(
      200,
    );
    expect(await post({ "sec-fetch-site": "none" })).toBe(200);
    expect(await post({ "sec-fetch-site": "same-site" })).toBe(403);
    expect(await post({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await post({ "sec-fetch-site": "cross-site", origin: "https://shop.example" })).toBe(
      403,
    );
    expect(await post({ "sec-fetch-site": "something-else" })).toBe(403);
  });

  it("Origin is compared with Host otherwise", async () => {
    expect(await post({ origin: "https://shop.example" })).toBe(200);
    expect(await post({ origin: "http://shop.example" })).toBe(200);
    expect(await post({ origin: "https://shop.example", host: "shop.example:443" })).toBe(200);
    expect(await post({ origin: "https://shop.example:8443" })).toBe(403);
    expect(await post({ origin: "https://shop.example.evil.example" })).toBe(403);
    expect(await post({ origin: "null" })).toBe(403);
    expect(await post({ origin: "shop.example" })).toBe(403);
    expect(await post({ origin: "" })).toBe(403);
  });

  it("listed origins pass, with and without Sec-Fetch-Site", async () => {
    const origin = "https://app.example";
    expect(await post({ origin, "sec-fetch-site": "cross-site" }, "others")).toBe(200);
    expect(await post({ origin }, "others")).toBe(200);
    expect(await post({ origin: "https://app.example:8443" }, "others")).toBe(403);
    expect(await post({ origin: "http://app.example" }, "others")).toBe(403);
  });

  it("a refused request does not reach the upstream", async () => {
    const before = upstream.count();
    const response = await send(`${gateway.url}/own`, "DELETE", { "sec-fetch-site": "cross-site" });
    expect(response).toMatchObject({ status: 403, body: "CSRF validation failed" });
    expect(upstream.count()).toBe(before);
  });
});
