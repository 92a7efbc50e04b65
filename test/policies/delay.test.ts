import { request } from "undici";
import { beforeAll, expect, it } from "vitest";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const delayed = (duration: string, more: object = {}) => ({
    policies: { ...more, delay: { duration } },
  });
  gateway = await startRoutes(
    {
      always: delayed("300ms"),
      asked: delayed('request.headers["x-chaos"] == "1" ? 300 : 0'),
      "as-duration": delayed('duration(request.headers["x-wait"])'),
      negative: delayed("-5"),
      "far-away": delayed('duration(request.headers["x-wait"])', { timeout: { request: "10s" } }),
      ended: delayed("300ms", { directResponse: { status: 204 } }),
    },
    upstream,
  );
});

async function timeOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const started = performance.now();
  const { status } = await send(`${gateway.url}/${path}`, "GET", headers);
  expect(status).toBeLessThan(300);
  return performance.now() - started;
}

it("a delay holds requests back before they are forwarded or answered", async () => {
  expect(await timeOf("always")).toBeGreaterThanOrEqual(299);
  expect(await timeOf("ended")).toBeGreaterThanOrEqual(299);
});

it("an expression decides which requests are delayed, in milliseconds or as a duration", async () => {
  expect(await timeOf("asked", { "x-chaos": "1" })).toBeGreaterThanOrEqual(299);
  expect(await timeOf("as-duration", { "x-wait": "300ms" })).toBeGreaterThanOrEqual(299);
});

it("a request is not delayed if the result is not positive or the expression fails", async () => {
  await timeOf("negative");
  await timeOf("asked", { "x-chaos": "0" });
  await timeOf("asked");
  await timeOf("as-duration", { "x-wait": "soon" });
});

it("a request whose client leaves during the delay is not forwarded", async () => {
  const leaving = new AbortController();
  const before = upstream.count();
  const headers = { "x-wait": "10h" };
  const asked = request(`${gateway.url}/far-away`, { headers, signal: leaving.signal });
  setTimeout(() => leaving.abort(), 100);
  await expect(asked).rejects.toThrow();
  await expect.poll(() => gateway.output).toContain("route=far-away");
  expect(upstream.count()).toBe(before);
});

it("a delay that cannot act is a mistake", () => {
  const found = (duration: string) =>
    findings({ policies: { delay: { duration } }, backends: [{ host: "127.0.0.1:1" }] });
  expect(found("random() < 0.1 ? 2000 : 0")).toEqual([]);
  expect(found("2 seconds")).toEqual(["cel-syntax"]);
  expect(found("0s")).toEqual(["out-of-range"]);
  expect(found("request.path")).toEqual(["cel-wrong-result"]);
});
