import { randomBytes } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Scripted;
let mirror: Scripted;
let isMirrorSilent = false;

beforeAll(async () => {
  upstream = await startScripted((response, _count, { url }) => {
    response.statusCode =
      url === "/retried" && response.req.headers["x-retry-attempt"] === undefined ? 503 : 200;
    response.end("upstream");
  });
  mirror = await startScripted((response) => {
    if (!isMirrorSilent) response.writeHead(500).end("mirror");
  });
  const backends = [{ host: upstream.host }];
  const backend = { host: mirror.host };
  gateway = await startRoutes(
    {
      all: { policies: { requestMirror: { backend } }, backends },
      half: { policies: { requestMirror: { backend, percentage: 0.5 } }, backends },
      none: { policies: { requestMirror: { backend, percentage: 0 } }, backends },
      down: { policies: { requestMirror: { backend: { host: "127.0.0.1:1" } } }, backends },
      retried: {
        policies: { requestMirror: { backend }, retry: { attempts: 1, codes: [503] } },
        backends,
      },
      rewritten: {
        policies: {
          requestMirror: { backend },
          urlRewrite: { path: { full: "/new" }, authority: { full: "new.example" } },
          requestHeaderModifier: { set: { "x-team": "blue" } },
        },
        backends,
      },
    },
    nowhere,
  );
});

beforeEach(() => {
  upstream.received.length = 0;
  mirror.received.length = 0;
  isMirrorSilent = false;
});

async function mirrored(count: number): Promise<void> {
  while (mirror.received.length < count) await pause(5);
}

describe("requestMirror", () => {
  it("a copy with its body goes to the other backend, whose response is ignored", async () => {
    for (const size of [0, 10, 16_385, 200_000]) {
      mirror.received.length = 0;
      const body = randomBytes(size);
      const response = await send(`${gateway.url}/all/x?q=1`, "POST", { "x-a": "1" }, body);
      expect(response).toMatchObject({ status: 200, body: "upstream" });
      await mirrored(1);
      expect(mirror.received[0]).toMatchObject({ method: "POST", url: "/all/x?q=1" });
      expect(mirror.received[0]?.headers["x-a"]).toBe("1");
      expect(mirror.received[0]?.body.equals(body)).toBe(true);
      expect(upstream.received.at(-1)?.body.equals(body)).toBe(true);
    }
  });

  it("the copy equals what the backend gets", async () => {
    await send(`${gateway.url}/rewritten`, "GET");
    await mirrored(1);
    const [copy] = mirror.received;
    expect(copy).toMatchObject({ url: "/new", headers: { host: "new.example", "x-team": "blue" } });
  });

  it("a share of the requests is copied", async () => {
    for (let count = 0; count < 100; count++) await send(`${gateway.url}/half`, "GET");
    await pause(100);
    // 100 throws of a fair coin: outside once in 10 million runs.
    expect(mirror.received.length).toBeGreaterThan(23);
    expect(mirror.received.length).toBeLessThan(77);
    mirror.received.length = 0;
    for (let count = 0; count < 20; count++) await send(`${gateway.url}/none`, "GET");
    await pause(50);
    expect(mirror.received).toHaveLength(0);
  });

  it("a mirror that is down or silent changes nothing", async () => {
    const body = randomBytes(300_000);
    expect((await send(`${gateway.url}/down`, "POST", {}, body)).status).toBe(200);
    isMirrorSilent = true;
    expect((await send(`${gateway.url}/all`, "POST", {}, body)).status).toBe(200);
    expect(upstream.received.every((each) => each.body.equals(body))).toBe(true);
  });

  it("a retried request is copied once", async () => {
    const body = randomBytes(30_000);
    const response = await send(`${gateway.url}/retried`, "POST", {}, body);
    expect(response.status).toBe(200);
    await mirrored(1);
    expect(upstream.received.map((each) => each.body.equals(body))).toEqual([true, true]);
    expect(mirror.received.map((each) => each.body.equals(body))).toEqual([true]);
  });
});
