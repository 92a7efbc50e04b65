import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { namedAddresses, startOnOnePort } from "../harness/same-port-servers.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "./routes.ts";

const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];

let gateway: Gateway;
let away: Awaited<ReturnType<typeof startOnOnePort>>;
/** The headers of the servers' last request. */
let seen: IncomingMessage["headers"] = {};

/** Starts servers that identify themselves. */
const startServers = () =>
  startOnOnePort(ADDRESSES, (address) => (request, response) => {
    seen = request.headers;
    response.setHeader("set-cookie", "of-server=1");
    response.end(address);
  });

beforeAll(async () => {
  const { port } = await startServers();
  away = await startServers();
  const route = (sessionPersistence: object, more: object = {}) => ({
    policies: { sessionPersistence, ...more },
    backends: [{ host: `app.test:${port}` }],
  });
  gateway = await startRoutes(
    {
      cookie: route({ sessionName: "at" }),
      other: route({ sessionName: "at" }),
      unnamed: route({}),
      kept: route({ absoluteTimeout: "1h", cookieConfig: { lifetimeType: "Permanent" } }),
      short: route({ sessionName: "at", absoluteTimeout: "1s" }),
      idle: route({ sessionName: "at", idleTimeout: "1s" }),
      header: route({ sessionName: "X-Server", type: "Header" }),
      free: { policies: {}, backends: [{ host: `127.0.0.2:${port}` }] },
      backends: {
        policies: { sessionPersistence: { sessionName: "at" } },
        backends: ADDRESSES.map((address) => ({ host: `${address}:${port}` })),
      },
      leaving: {
        policies: { sessionPersistence: { sessionName: "at" }, retry: { attempts: 1 } },
        backends: [{ host: `app.test:${away.port}` }],
      },
    },
    nowhere,
    {},
    namedAddresses({ "app.test": ADDRESSES }),
  );
});

/** Sends a request; returns the server and the client's next token. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const response = await send(`${gateway.url}/${path}`, "GET", headers);
  const cookies = [response.headers["set-cookie"] ?? []].flat();
  const given = cookies.find((each) => !each.startsWith("of-server"));
  const [cookie] = given?.split(";") ?? [];
  return { ...response, server: response.body, given, cookie };
}

/** Returns the servers that answer one client that ignores its new tokens. */
async function serversOf(path: string, cookie: string, count = 12): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let i = 0; i < count; i += 1) found.add((await ask(path, { cookie })).server);
  return found;
}

describe("sessionPersistence", () => {
  it.each(["cookie", "backends"])(
    "keeps each client at its server and distributes new ones (%s)",
    async (path) => {
      const met = new Set<string>();
      for (let i = 0; i < 40; i += 1) {
        const { server, cookie = "" } = await ask(path);
        met.add(server);
        if (i < 3) expect(await serversOf(path, cookie)).toEqual(new Set([server]));
      }
      expect(met).toEqual(new Set(ADDRESSES));
    },
  );

  it("sends a cookie once, next to those of the server", async () => {
    const first = await ask("cookie");
    expect(first.given).toMatch(/^at=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
    expect([first.headers["set-cookie"]].flat()).toContain("of-server=1");
    const second = await ask("cookie", { cookie: `a=1; ${first.cookie}; b=2` });
    expect(second.given).toBeUndefined();
    expect(seen.cookie).toBe("a=1; b=2");
    await ask("cookie", { cookie: first.cookie ?? "" });
    expect(seen.cookie).toBeUndefined();
  });

  it("withholds its token from servers of other routes", async () => {
    const { cookie: named = "" } = await ask("cookie");
    const { cookie: unnamed = "" } = await ask("unnamed");
    const { headers } = await ask("header");
    const token = String(headers["x-server"]);
    await ask("free", { cookie: `a=1; ${named}; ${unnamed}; b=2`, "x-server": token });
    expect(seen).toMatchObject({ cookie: "a=1; b=2" });
    expect(seen).not.toHaveProperty("x-server");
    await ask("free", { cookie: "at=mine; a=1", "x-server": "mine" });
    expect(seen).toMatchObject({ cookie: "at=mine; a=1", "x-server": "mine" });
  });

  it("does not reveal the server's address in the cookie", async () => {
    const { server, cookie = "", given } = await ask("unnamed");
    expect(given).toMatch(/^gwc-session-[0-9a-f]{8}=/);
    const sealed = Buffer.from(cookie.split("=")[1] ?? "", "base64url").toString("latin1");
    for (const text of [cookie, sealed]) expect(text).not.toContain(server);
    // Nobody can tell that two clients have the same server.
    expect((await ask("unnamed")).cookie).not.toBe(cookie);
  });

  it("ignores a token that is changed, invented, or another route's", async () => {
    const { cookie = "" } = await ask("cookie");
    const last = cookie.at(-6) === "A" ? "B" : "A";
    const changed = `${cookie.slice(0, -6)}${last}${cookie.slice(-5)}`;
    const { cookie: foreign = "" } = await ask("other");
    const made = ["at=", "at=127.0.0.2", "at=!", changed, foreign, cookie.slice(0, -1)];
    for (const each of made) {
      const { status, given } = await ask("cookie", { cookie: each });
      expect([status, given]).toEqual([200, expect.stringMatching(/^at=/)]);
    }
  });

  it("lets browsers store a permanent cookie up to the absolute timeout", async () => {
    const { given } = await ask("kept");
    expect(Number(/Max-Age=(\d+)/.exec(given ?? "")?.[1])).toBe(3600);
  });

  it("ends a session at its absolute or idle timeout", async () => {
    const [short, idle] = [await ask("short"), await ask("idle")];
    const renewed = await ask("idle", { cookie: idle.cookie ?? "" });
    expect(renewed.cookie).not.toBe(idle.cookie);
    await sleep(2100);
    expect((await ask("short", { cookie: short.cookie ?? "" })).given).toMatch(/^at=/);
    const later = new Set<string>();
    for (let i = 0; i < 40; i += 1) {
      later.add((await ask("idle", { cookie: idle.cookie ?? "" })).server);
    }
    expect(later.size).toBeGreaterThan(1);
  });

  it("works with a header that the client copies", async () => {
    const first = await ask("header");
    const token = String(first.headers["x-server"]);
    const found = new Set<string>();
    for (let i = 0; i < 12; i += 1) found.add((await ask("header", { "x-server": token })).server);
    expect(found).toEqual(new Set([first.server]));
    expect(seen["x-server"]).toBeUndefined();
    expect(first.given).toBeUndefined();
  });

  it("moves a client whose server is gone to another one, where it stays", async () => {
    const { server, cookie = "" } = await ask("leaving");
    const gone = away.servers.get(server);
    gone?.closeAllConnections();
    await new Promise((resolve) => gone?.close(resolve));
    const moved = await ask("leaving", { cookie });
    expect([moved.status, moved.server]).not.toEqual([200, server]);
    expect(ADDRESSES).toContain(moved.server);
    expect(await serversOf("leaving", moved.cookie ?? "")).toEqual(new Set([moved.server]));
  });
});
