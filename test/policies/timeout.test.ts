import { request } from "undici";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Scripted;
let closed = 0;

beforeAll(async () => {
  upstream = await startScripted((response, _count, { url }) => {
    response.on("close", () => {
      if (!response.writableFinished) closed += 1;
    });
    if (url.endsWith("/fast")) response.end("fast");
    if (url.endsWith("/begun")) response.write("the beginning");
    // Other requests are never answered.
  });
  const backends = [{ host: upstream.host }];
  gateway = await startRoutes(
    {
      request: { policies: { timeout: { requestTimeout: "300ms" } }, backends },
      attempt: {
        policies: { timeout: { requestTimeout: "20s", backendRequestTimeout: "0.3s" } },
        backends,
      },
      cluster: { policies: { timeouts: { request: "300ms" } }, backends },
      later: { policies: { timeout: { requestTimeout: "20s" } }, backends },
      unlimited: { policies: { timeout: { requestTimeout: "0s" } }, backends },
    },
    nowhere,
  );
});

describe("timeout", () => {
  it.each(["request", "attempt", "cluster"])(
    "a slow backend is cancelled and is a 504 (%s)",
    async (route) => {
      const before = closed;
      const start = performance.now();
      const first = await Promise.race(
        [route, "later"].map(async (each) => {
          const { status } = await send(`${gateway.url}/${each}/never`, "GET");
          return { status, route: each };
        }),
      );
      expect(first).toEqual({ status: 504, route });
      expect(performance.now() - start).toBeGreaterThan(250);
      while (closed === before) await pause(10);
    },
  );

  it("a response in time is forwarded on the same connection as before", async () => {
    for (let count = 0; count < 5; count++) {
      expect(
        await send(`${gateway.url}/later/fast`, "POST", {}, "x".repeat(100_000)),
      ).toMatchObject({ status: 200, body: "fast" });
    }
  });

  it("a response that does not end in time is aborted", async () => {
    const body = await eventually(async () => {
      const response = await request(`${gateway.url}/request/begun`);
      if (response.statusCode === 200) return response.body;
      // A busy machine may take as long for the head alone.
      expect(response.statusCode).toBe(504);
      await response.body.dump();
      return null;
    }, "the head in time");
    await expect(body.text()).rejects.toThrow();
  });

  it("zero is no limit", async () => {
    const response = send(`${gateway.url}/unlimited/never`, "GET").catch(() => "ended by the test");
    expect(await Promise.race([response, pause(600).then(() => "waiting")])).toBe("waiting");
  });
});
