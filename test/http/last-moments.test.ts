import { connect, constants } from "node:http2";
import { describe, expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

/** A gateway whose upstream responds when `finish` is called. */
async function start(workerThreads: number) {
  const held: (() => void)[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/slow") held.push(() => response.end("late"));
    else response.end("ok");
  });
  const gateway = await startGateway({
    file: { config: { workerThreads } },
    listeners: [{ routes: [{ backends: [{ host: new URL(upstream).host }] }] }],
  });
  if (workerThreads > 1) await gateway.seen(/threads serve/);
  const finish = () => {
    for (const respond of held.splice(0)) respond();
  };
  return { gateway, finish, isHeld: () => held.length > 0 };
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe.each([1, 2])("after SIGTERM a gateway of %i threads", (threads) => {
  it("says 503 on its readiness port until the last response has ended", async () => {
    const { gateway, finish, isHeld } = await start(threads);
    const ready = `http://127.0.0.1:${await gateway.readinessPort()}/healthz/ready`;
    const client = new RawClient(gateway.port);
    client.send(request("/slow"));
    await expect.poll(isHeld).toBe(true);
    gateway.signal("SIGTERM");
    await expect.poll(() => refuses(gateway.port)).toBe(true);
    expect((await fetch(ready)).status).toBe(503);
    finish();
    await client.receives(/late/);
    expect(await gateway.exited).toBe(0);
  });

  it("responds to clients that had connected and sent nothing yet", async () => {
    await untilInTime(async () => {
      const { gateway } = await start(threads);
      const clients = Array.from({ length: 8 }, () => new RawClient(gateway.port));
      await Promise.all(
        clients.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))),
      );
      // Accepted by now: each thread accepts connections in their order.
      for (let i = 0; i < 30; i++) await fetch(gateway.url, { headers: { connection: "close" } });
      const signalled = performance.now();
      gateway.signal("SIGTERM");
      await gateway.seen(/draining/);
      for (const client of clients) client.send(request("/"));
      if (isLate(signalled)) return false;
      for (const client of clients) await client.receives(/^HTTP\/1\.1 200 .*connection: close/is);
      expect(await gateway.exited).toBe(0);
      return true;
    });
  });

  it("responds to a client of HTTP/2 that had sent no request yet", async () => {
    await untilInTime(async () => {
      const { gateway } = await start(threads);
      const session = connect(gateway.url).on("error", () => {});
      await new Promise((resolve) => session.once("remoteSettings", resolve));
      const signalled = performance.now();
      gateway.signal("SIGTERM");
      await gateway.seen(/draining/);
      if (isLate(signalled)) return false;
      const stream = session.request({ [constants.HTTP2_HEADER_PATH]: "/" });
      const [headers] = await new Promise<[Record<string, unknown>]>((resolve, reject) => {
        stream.once("response", (head) => resolve([head])).once("error", reject);
      });
      expect(headers[":status"]).toBe(200);
      stream.resume();
      expect(await gateway.exited).toBe(0);
      session.destroy();
      return true;
    });
  });
});

/** Repeats a try that was too late: a gateway waits 2 s for a first request, and a busy machine may pause the test for longer. */
async function untilInTime(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt()));
}

function isLate(since: number): boolean {
  return performance.now() - since > 1_000;
}

/** Whether nobody listens on a port any more. */
function refuses(port: number): Promise<boolean> {
  const { socket } = new RawClient(port);
  return new Promise((resolve) => {
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", () => resolve(true));
  });
}
