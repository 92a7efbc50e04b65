import { createServer } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";

/** A server that answers clients whatever it says of itself. */
class Server {
  /** Response to health checks; `undefined` for no response. */
  status: number | undefined = 200;
  checks: (string | undefined)[] = [];
  asked = 0;
  host = "";

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      if (request.url === "/up") {
        this.checks.push(request.headers.host);
        if (this.status !== undefined) response.writeHead(this.status).end("how it does");
        return;
      }
      this.asked += 1;
      response.end(this.host);
    });
    this.host = `127.0.0.1:${await listen(server)}`;
    return this;
  }
}

let gateway: Gateway;
/** Four servers for each route. */
const servers: Record<string, readonly Server[]> = {};

const active = { path: "/up", interval: "100ms", timeout: "30s" };

const routes: Readonly<Record<string, object>> = {
  plain: { health: { active: { ...active, unhealthyThreshold: 2, healthyThreshold: 2 } } },
  teapot: { health: { active: { ...active, expectedStatuses: [418] } } },
  silent: { health: { active: { ...active, timeout: "200ms", unhealthyThreshold: 1 } } },
  panic: { health: { active: { ...active, unhealthyThreshold: 1 }, panicThreshold: 50 } },
  kept: {
    health: { active: { ...active, unhealthyThreshold: 1 } },
    sessionAffinity: { source: 'request.headers["x-user"]' },
  },
  unasked: { health: { eviction: { duration: "1s" } } },
};

beforeAll(async () => {
  for (const name of Object.keys(routes)) {
    servers[name] = await Promise.all(Array.from({ length: 4 }, () => new Server().start()));
  }
  const cases = Object.entries(routes).map(([name, policies]) => {
    const backends = (servers[name] ?? []).map(({ host }) => ({ host }));
    return [name, { policies: { ...policies }, backends }] as const;
  });
  gateway = await startRoutes(Object.fromEntries(cases), nowhere);
});

const serversOf = (route: string): readonly Server[] => servers[route] ?? [];

/** Which servers answer 60 requests; with 4 servers one is missed by chance once in 30 million times. */
async function answering(route: string, headers: Record<string, string> = {}) {
  const found = new Set<string>();
  for (let i = 0; i < 60; i += 1) {
    found.add((await send(`${gateway.url}/${route}`, "GET", headers)).body);
  }
  return serversOf(route).map(({ host }) => found.has(host));
}

/** Resolves when 60 requests were answered by these servers. */
async function settled(route: string, expected: readonly boolean[]): Promise<void> {
  await eventually(
    async () => String(await answering(route)) === String(expected) || null,
    `${route}: ${expected}`,
  );
}

describe("health.active", () => {
  it("takes a server out that fails its checks, and back when it passes them", async () => {
    const [first, second] = serversOf("plain");
    if (first === undefined || second === undefined) throw new Error("no servers");
    await settled("plain", [true, true, true, true]);
    [first.status, second.status] = [503, 302];
    await settled("plain", [false, false, true, true]);
    await gateway.seen(new RegExp(`${first.host} fails its health checks: status 503`));
    [first.status, second.status] = [204, 200];
    await settled("plain", [true, true, true, true]);
    expect(new Set(first.checks)).toEqual(new Set([first.host]));
  });

  it("asks for the statuses that the configuration says", async () => {
    for (const [index, server] of serversOf("teapot").entries()) {
      server.status = index === 0 ? 418 : 200;
    }
    await settled("teapot", [true, false, false, false]);
  });

  it("takes a server out that does not answer in time, or can't be reached", async () => {
    const [first] = serversOf("silent");
    if (first === undefined) throw new Error("no servers");
    first.status = undefined;
    await settled("silent", [false, true, true, true]);
  });

  it("leaves no fewer servers than the panic threshold says", async () => {
    for (let failing = 0; failing <= 4; failing += 1) {
      for (const [index, server] of serversOf("panic").entries()) {
        server.status = index < failing ? 500 : 200;
      }
      // Below half of them all are asked.
      const isPanic = 4 - failing < 2;
      await settled(
        "panic",
        [0, 1, 2, 3].map((index) => isPanic || index >= failing),
      );
    }
  });

  it("moves the clients of a server that fails, and those alone", async () => {
    const user = (i: number) => ({ "x-user": `user-${i}` });
    const serverOf = async (i: number) => (await send(`${gateway.url}/kept`, "GET", user(i))).body;
    const before: string[] = [];
    for (let i = 0; i < 40; i += 1) before.push(await serverOf(i));
    const [first] = serversOf("kept");
    if (first === undefined) throw new Error("no servers");
    first.status = 500;
    const mover = before.indexOf(first.host);
    await eventually(async () => (await serverOf(mover)) !== first.host || null, "it has moved");
    for (let i = 0; i < 40; i += 1) {
      if (before[i] === first.host) expect(await serverOf(i)).not.toBe(first.host);
      else expect(await serverOf(i)).toBe(before[i]);
    }
  });

  it("asks nobody where it is not configured", async () => {
    await answering("unasked");
    expect(serversOf("unasked").map(({ checks }) => checks.length)).toEqual([0, 0, 0, 0]);
  });
});
