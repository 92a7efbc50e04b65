import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import type { Response } from "../harness/send.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

/** Routes with the same limits and separate buckets. */
const ATTEMPTS = [1, 2, 3, 4, 5];

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const key = 'request.headers["x-caller"]';
  const local = (...limits: readonly object[]) => ({ policies: { localRateLimit: limits } });
  const bucket = local({ maxTokens: 3, tokensPerFill: 2, fillInterval: "2s" });
  const several = local(
    { requests: 5, unit: "Hours" },
    { maxTokens: 2, tokensPerFill: 2, fillInterval: "2s" },
  );
  gateway = await startRoutes(
    {
      ...Object.fromEntries(ATTEMPTS.map((attempt) => [`bucket-${attempt}`, bucket])),
      ...Object.fromEntries(ATTEMPTS.map((attempt) => [`several-${attempt}`, several])),
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
  );
});

const ask = (route: string, headers: Record<string, string> = {}): Promise<Response> =>
  call(`${gateway.url}/${route}`, headers);

/** A scenario with intervals of two seconds that records whether the machine was fast enough. */
class Scenario {
  isInTime = true;

  statuses(route: string, count: number): Promise<number[]> {
    return this.#within(500, () => statuses(route, count));
  }

  /** Sends requests until one is accepted. */
  async accepted(route: string): Promise<void> {
    const isAccepted = async () => (await ask(route)).status === 200 || null;
    await eventually(() => this.#within(500, isAccepted), "a token");
  }

  pause(milliseconds: number): Promise<void> {
    return this.#within(milliseconds + 500, () => pause(milliseconds));
  }

  async #within<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const done = await work();
    if (performance.now() - start > milliseconds) this.isInTime = false;
    return done;
  }
}

/** Returns the result of the first attempt that was fast enough. */
async function inTime<T>(look: (scenario: Scenario, attempt: number) => Promise<T>): Promise<T> {
  for (const attempt of ATTEMPTS) {
    const scenario = new Scenario();
    const found = await look(scenario, attempt);
    if (scenario.isInTime) return found;
  }
  throw new Error("the machine was too busy in every attempt");
}

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
    const found = await inTime(async (scenario, attempt) => {
      const route = `bucket-${attempt}`;
      const before = upstream.count();
      const full = await scenario.statuses(route, 5);
      const served = upstream.count() - before;
      // For the client, the first accepted request begins the interval.
      await scenario.accepted(route);
      const refilled = await scenario.statuses(route, 2);
      await scenario.pause(4500);
      return { full, served, refilled, later: await scenario.statuses(route, 4) };
    });
    expect(found).toEqual({
      full: [200, 200, 200, 429, 429],
      served: 3,
      refilled: [200, 429],
      later: [200, 200, 200, 429],
    });
  });

  it("a refused client learns the limit and when to retry", async () => {
    const started = performance.now();
    expect(await statuses("hourly", 3)).toEqual([200, 200, 200]);
    const { status, headers, body } = await ask("hourly");
    expect({ status, body }).toEqual({ status: 429, body: "rate limit exceeded" });
    expect(headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": "0" });
    const reset = Number(headers["x-ratelimit-reset"]);
    expect(reset).toBeGreaterThanOrEqual(Math.floor(3600 - (performance.now() - started) / 1000));
    expect(reset).toBeLessThanOrEqual(3600);
    expect(headers["retry-after"]).toBe(headers["x-ratelimit-reset"]);
  });

  it("the name in the cluster resources is the same policy", async () => {
    expect(await statuses("cluster", 2)).toEqual([200, 429]);
  });

  it("a request that one limit refuses does not use up the others", async () => {
    const found = await inTime(async (scenario, attempt) => {
      const route = `several-${attempt}`;
      const first = await scenario.statuses(route, 6);
      await scenario.accepted(route);
      const second = await scenario.statuses(route, 2);
      await scenario.accepted(route);
      return { first, second, third: await scenario.statuses(route, 2) };
    });
    expect(found).toEqual({
      first: [200, 200, 429, 429, 429, 429],
      second: [200, 429],
      third: [429, 429],
    });
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
