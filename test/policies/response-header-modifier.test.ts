import { beforeAll, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
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

it.each(["own", "cluster"])("headers are set, added and removed (%s name)", async (route) => {
  const { headers } = await call(`${gateway.url}/${route}`, {});
  expect(headers).toMatchObject({ "x-set": "gateway", "x-added": ["upstream", "gateway"] });
  expect(headers).not.toHaveProperty("server");
});

it("a response of the gateway itself is changed, too", async () => {
  const { status, headers } = await call(`${gateway.url}/responded`, {});
  expect(status).toBe(418);
  expect(headers).toMatchObject({ "x-set": "gateway", "x-added": "gateway" });
});
