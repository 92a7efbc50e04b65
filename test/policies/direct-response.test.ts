import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/call.ts";
import { type Echo, startEcho } from "./support/echo.ts";
import type { GatewayProcess } from "./support/process.ts";
import { findings } from "./support/refused.ts";
import { startRoutes } from "./support/routes.ts";

let gateway: GatewayProcess;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const answer = (directResponse: object) => ({ policies: { directResponse }, backends: [] });
  gateway = await startRoutes(
    {
      text: answer({ status: 503, body: "closed for today: ☃" }),
      json: answer({ status: 200, body: "{}", headers: { "Content-Type": "application/json" } }),
      bare: answer({ status: 204 }),
      refused: {
        policies: {
          cors: { allowOrigins: ["https://app.example"] },
          directResponse: { status: 200, body: "hello" },
        },
        backends: [],
      },
    },
    upstream,
  );
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

test("the gateway answers by itself", async () => {
  const text = await call(`${gateway.url}/text`, {});
  expect(text).toMatchObject({ status: 503, body: "closed for today: ☃" });
  expect(text.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(upstream.count()).toBe(0);
});

test("its headers are the configured ones", async () => {
  const json = await call(`${gateway.url}/json`, {});
  expect(json.headers["content-type"]).toBe("application/json");
  const bare = await call(`${gateway.url}/bare`, {});
  expect(bare).toMatchObject({ status: 204, body: "" });
  expect(bare.headers).not.toHaveProperty("content-type");
});

test("policies before it mark the answer, and the log says who answered", async () => {
  const answer = await call(`${gateway.url}/refused`, { origin: "https://app.example" });
  expect(answer.headers["access-control-allow-origin"]).toBe("https://app.example");
  while (!gateway.output().includes("route=refused")) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(gateway.output()).toMatch(/route=refused .*reason=DirectResponse/);
});

test("a route without backend and without an answer is a mistake", () => {
  expect(findings({ policies: {}, backends: [] })).toEqual(["route-without-backend"]);
  expect(findings({ policies: { directResponse: { status: 200 } }, backends: [] })).toEqual([]);
  expect(
    findings({ policies: { directResponse: { status: 204, body: "x" } }, backends: [] }),
  ).toEqual(["body-not-allowed"]);
});
