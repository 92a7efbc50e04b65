import { beforeAll, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  gateway = await startRoutes(
    {
      address: { policies: {} },
      name: { policies: {}, backends: [{ host: `localhost:${new URL(upstream.url).port}` }] },
      auto: { policies: { hostRewrite: { mode: "Auto" } } },
      none: { policies: { hostRewrite: { mode: "None" } } },
      overruled: {
        policies: {
          hostRewrite: { mode: "None" },
          urlRewrite: { authority: { full: "other.example" } },
        },
      },
    },
    upstream,
  );
});

async function hostSeen(route: string): Promise<string | undefined> {
  const response = await call(`${gateway.url}/${route}`, { host: "shop.example:8080" });
  const { headers }: Echoed = JSON.parse(response.body);
  return headers.host;
}

it("Auto uses the backend's own name, None the client's", async () => {
  expect(await hostSeen("auto")).toBe(new URL(upstream.url).host);
  expect(await hostSeen("none")).toBe("shop.example:8080");
});

it("without it, a named backend gets its own name, an address the client's", async () => {
  expect(await hostSeen("name")).toBe(`localhost:${new URL(upstream.url).port}`);
  expect(await hostSeen("address")).toBe("shop.example:8080");
});

it("a Host that urlRewrite sets wins", async () => {
  expect(await hostSeen("overruled")).toBe("other.example");
});

it("with only child processes it is reported", () => {
  const backends = [{ mcp: { targets: [{ name: "one", stdio: { cmd: "node" } }] } }];
  expect(findings({ policies: { hostRewrite: { mode: "None" } }, backends })).toEqual([
    "idle-model-field",
  ]);
});
