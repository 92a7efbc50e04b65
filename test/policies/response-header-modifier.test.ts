import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { GatewayProcess } from "../harness/process.ts";
import { startRoutes } from "./routes.ts";

let gateway: GatewayProcess;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho({ "x-set": "upstream", "x-added": "upstream", server: "upstream" });
  const changes = {
    set: { "X-Set": "gateway" },
    add: { "x-added": "gateway" },
    remove: ["Server"],
  };
  gateway = await startRoutes(
    {
      own: { policies: { responseHeaderModifier: changes } },
      cluster: { policies: { headerModifiers: { response: changes } } },
      responded: {
        policies: { responseHeaderModifier: changes, directResponse: { status: 418 } },
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

test.each(["own", "cluster"])("headers are set, added and removed (%s name)", async (route) => {
  const { headers } = await call(`${gateway.url}/${route}`, {});
  expect(headers).toMatchObject({ "x-set": "gateway", "x-added": ["upstream", "gateway"] });
  expect(headers).not.toHaveProperty("server");
});

test("a response that the gateway makes is changed too", async () => {
  const { status, headers } = await call(`${gateway.url}/answered`, {});
  expect(status).toBe(418);
  expect(headers).toMatchObject({ "x-set": "gateway", "x-added": "gateway" });
});
