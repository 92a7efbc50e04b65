import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import type { Response } from "../harness/send.ts";
import { SteppedClock } from "../harness/stepped-clock.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

const clock = new SteppedClock();
let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const key = 'request.headers["x-caller"]';
  const local = (...limits: readonly object[]) => ({ policies: { localRateLimit: limits } });
  gateway = await startRoutes(
    {
      bucket: local({ maxTokens: 3, tokensPerFill: 2, fillInterval: "2s" }),
      several: local(
        { requests: 5, unit: "Hours" },
        { maxTokens: 2, tokensPerFill: 2, fillInterval: "2s" },
      ),
      hourly: local({ requests: 2, unit: "Hours", burst: 1 }),
      cluster: { policies: { rateLimit: { local: [{ requests: 1, unit: "Hours" }] } } },
      chosen: {
        policies: {
          localRateLimit: {
            conditional: [
              { condition: `${key} == "bob"`, requests: 2, unit: "Hours" },
              { requests: 1, unit: "Hours" },
            ],
          },
        },
      },
      keyed: local({ requests: 2, unit: "Hours", key }),
      both: local({ requests: 3, unit: "Hours" }, { requests: 2, unit: "Hours", key }),
      cors: {
        policies: {
          cors: { allowOrigins: ["https://app.example"] },
          localRateLimit: [{ requests: 1, unit: "Hours" }],
        },
      },
    },
    upstream,
    {},
    clock.env,
  );
});

const ask = (route: string, headers: Record<string, string> = {}): Promise<Response> =>
  call(`${gateway.url}/${route}`, headers);

async function statuses(route: string, count: number, caller?: string): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index++) {
    const headers = caller === undefined ? {} : { "x-caller": caller };
    found.push((await ask(route, headers)).status);
  }
  return found;
}

describe("localRateLimit", () => {
  it("a bucket is refilled each interval", async () => {
    const before = upstream.count();
    expect(await statuses("bucket", 5)).toEqual([200, 200, 200, 429, 429]);
    expect(upstream.count() - before).toBe(3);
    clock.pass(1999);
    expect(await statuses("bucket", 1)).toEqual([429]);
    clock.pass(1);
    expect(await statuses("bucket", 3)).toEqual([200, 200, 429]);
    clock.pass(4500);
    expect(await statuses("bucket", 4)).toEqual([200, 200, 200, 429]);
  });

  it("a refused client learns the limit and when to retry", async () => {
    expect(await statuses("hourly", 3)).toEqual([200, 200, 200]);
    clock.pass(600_000);
    const { status, headers, body } = await ask("hourly");
    expect({ status, body }).toEqual({ status: 429, body: "rate limit exceeded" });
    expect(headers).toMatchObject({
      ...{ "x-ratelimit-limit": "3", "x-ratelimit-remaining": "0" },
      ...{ "x-ratelimit-reset": "3000", "retry-after": "3000" },
    });
  });

  it("the name in the cluster resources is the same policy", async () => {
    expect(await statuses("cluster", 2)).toEqual([200, 429]);
  });

  it("a request that one limit refuses does not use up the others", async () => {
    expect(await statuses("several", 6)).toEqual([200, 200, 429, 429, 429, 429]);
    clock.pass(2000);
    expect(await statuses("several", 3)).toEqual([200, 200, 429]);
    clock.pass(2000);
    expect(await statuses("several", 3)).toEqual([200, 429, 429]);
  });

  it("a key gives each caller a bucket", async () => {
    expect(await statuses("keyed", 3, "alice")).toEqual([200, 200, 429]);
    expect(await statuses("keyed", 3, "bob")).toEqual([200, 200, 429]);
    expect(await statuses("keyed", 3, "x".repeat(10_000))).toEqual([200, 200, 429]);
    expect(await statuses("keyed", 3, `${"x".repeat(9_999)}y`)).toEqual([200, 200, 429]);
    expect(await statuses("keyed", 3)).toEqual([200, 200, 429]);
  });

  it("a caller over its own limit takes nothing from the common one", async () => {
    expect(await statuses("both", 4, "alice")).toEqual([200, 200, 429, 429]);
    expect(await statuses("both", 2, "bob")).toEqual([200, 429]);
  });

  it("the first conditional limit that applies is used", async () => {
    const statuses = async (caller: string) => {
      const found = [];
      for (let i = 0; i < 3; i++) found.push((await ask("chosen", { "x-caller": caller })).status);
      return found;
    };
    expect(await statuses("bob")).toEqual([200, 200, 429]);
    expect(await statuses("cat")).toEqual([200, 429, 429]);
  });

  it("the table of callers is bounded and drops the oldest", async () => {
    const routes = {
      keyed: {
        policies: { localRateLimit: [{ requests: 1, unit: "Hours", key: "request.path" }] },
      },
    };
    const own = await startRoutes(routes, upstream);
    const status = async (name: string) => (await call(`${own.url}/keyed/${name}`, {})).status;
    expect(await status("first")).toBe(200);
    expect(await status("second")).toBe(200);
    for (let index = 0; index < 9_998; index += 100) {
      const names = Array.from(
        { length: Math.min(100, 9_998 - index) },
        (_, at) => `n${index + at}`,
      );
      await Promise.all(names.map(status));
    }
    // This request makes it the youngest again.
    expect(await status("first")).toBe(429);
    expect(await status("one more")).toBe(200);
    expect(await status("first")).toBe(429);
    expect(await status("second")).toBe(200);
  });

  it("a page may read that it was refused", async () => {
    const origin = "https://app.example";
    await ask("cors", { origin });
    const { status, headers } = await ask("cors", { origin });
    expect(status).toBe(429);
    expect(headers["access-control-allow-origin"]).toBe(origin);
  });

  it("half a limit, an empty interval, and token limits without a model are mistakes", () => {
    const local = (limit: object) => findings({ policies: { localRateLimit: [limit] } });
    expect(local({ requests: 1 })).toEqual(["missing-field"]);
    expect(local({ maxTokens: 1 })).toEqual(["missing-field", "missing-field"]);
    expect(local({ maxTokens: 1, tokensPerFill: 1, fillInterval: "0s" })).toEqual(["out-of-range"]);
    expect(local({ tokens: 1, unit: "Hours" })).toEqual(["misplaced-field"]);
    expect(local({ requests: 1, unit: "Hours", key: "jwt.sub +" })).toEqual(["cel-syntax"]);
  });
});
