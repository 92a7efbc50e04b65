import { beforeAll, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startLimitService } from "../harness/limit-service.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Response, send } from "../harness/send.ts";
import { describeUnless, NOT_LONG } from "../harness/skip.ts";
import { isInstalled } from "../harness/tool.ts";
import { startRoutes } from "./routes.ts";

// A window that no run crosses.
const rules = `
domain: shop
descriptors:
  - key: everybody
    rate_limit: { unit: year, requests_per_unit: 300 }
  - key: user
    rate_limit: { unit: year, requests_per_unit: 7 }
`;

const programs = (["go", "redis-server"] as const).filter((tool) => !isInstalled(tool));
const missing = NOT_LONG ?? (programs.length === 0 ? undefined : `needs ${programs.join(" and ")}`);

/** Milliseconds: the first build takes minutes. */
const PATIENCE = 900_000;

describeUnless(missing)("Envoy's rate limit service with Redis", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const host = new URL(await startLimitService(rules)).host;
    const route = (key: string, value: string) => ({
      policies: {
        remoteRateLimit: {
          host,
          policies: patient,
          domain: "shop",
          descriptors: [{ entries: [{ key, value }] }],
        },
      },
    });
    const user = { entries: [{ key: "user", value: 'request.headers["x-user"]' }] };
    const routes = {
      everybody: route("everybody", '"all"'),
      user: route("user", 'request.headers["x-user"]'),
      unknown: route("nothing", '"x"'),
      twice: {
        policies: {
          remoteRateLimit: { host, policies: patient, domain: "shop", descriptors: [user, user] },
        },
      },
    };
    gateway = await startRoutes(routes, await startEcho());
  }, PATIENCE);

  it("allows exactly the limit with 200 concurrent clients", async () => {
    const responses = await fromClients(200, 5, () => send(`${gateway.url}/everybody`, "GET"));
    expect(counted(responses)).toEqual({ 200: 300, 429: 700 });
    // Each has another place.
    const passed = responses.filter(({ status }) => status === 200);
    const left = passed.map(({ headers }) => Number(headers["x-ratelimit-remaining"]));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });

  it("counts two descriptors with the same entries together", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const headers = { "x-user": "twice" };
      statuses.push((await send(`${gateway.url}/twice`, "GET", headers)).status);
    }
    // Seven are allowed, and each request counts twice.
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it("counts 40 concurrent users separately", async () => {
    const responses = await fromClients(200, 4, (client) =>
      send(`${gateway.url}/user`, "GET", { "x-user": `user-${client % 40}` }),
    );
    expect(counted(responses)).toEqual({ 200: 40 * 7, 429: 800 - 40 * 7 });
  });

  it("allows what the service has no rule for", async () => {
    const responses = await fromClients(20, 2, () => send(`${gateway.url}/unknown`, "GET"));
    expect(counted(responses)).toEqual({ 200: 40 });
    expect(responses[0]?.headers).not.toHaveProperty("x-ratelimit-limit");
  });
});

/** Sends requests from concurrent clients, each one after the other; returns their results. */
async function fromClients(
  clients: number,
  requests: number,
  ask: (client: number) => Promise<Response>,
): Promise<readonly Response[]> {
  const each = Array.from({ length: clients }, async (_, client) => {
    const responses: Response[] = [];
    for (let i = 0; i < requests; i += 1) responses.push(await ask(client));
    return responses;
  });
  return (await Promise.all(each)).flat();
}

function counted(responses: readonly Response[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
