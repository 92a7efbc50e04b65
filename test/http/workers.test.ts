import { Agent, get } from "node:http";
import { availableParallelism } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { WorkerThreads } from "../../runtime/gateway/definition.ts";
import { workerCount } from "../../runtime/gateway/workers/worker-count.ts";
import { BufferBudget } from "../../runtime/process/buffer-budget.ts";
import { eventually } from "../harness/eventually.ts";
import { breakDown, fragileThreads } from "../harness/fragile-threads.ts";
import { Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

async function startThreads(
  upstream: string,
  env: Readonly<Record<string, string>> = {},
  routes: readonly object[] = [{ name: "plain", backends: [{ host: upstream }] }],
): Promise<Gateway> {
  const { env: fragile, ...threads } = fragileThreads(2);
  return startGateway({
    listeners: [{ name: "http", routes }],
    ...threads,
    env: { ...fragile, ...env },
  });
}

/** A request over a connection of its own: the kernel chooses the thread. */
function request(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: new Agent() }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    }).on("error", reject);
  });
}

async function requests(gateway: Gateway, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) expect(await request(gateway.url)).toBe(200);
}

async function figure(gateway: Gateway, series: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  const line = (await response.text()).split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.split(" ").at(-1));
}

const served =
  'gwc_requests_total{listener="http",route="plain",method="GET",status="200",reason=""}';

describe("two threads", () => {
  it("share a port, are counted together, and write whole lines", async () => {
    const sockets = new Set<unknown>();
    const upstream = await startUpstream(({ socket }, response) => {
      sockets.add(socket);
      response.end("ok");
    });
    const gateway = await startThreads(upstream);
    await gateway.seen(/2 threads serve/);
    let rounds = 0;
    // One request after the other: a thread needs no second connection. After a pause, it closes those that it has.
    await eventually(async () => {
      rounds += 1;
      sockets.clear();
      await requests(gateway, 40);
      return sockets.size === 2 || null;
    }, "one connection of each thread");
    expect(await figure(gateway, served)).toBe(rounds * 40);
    expect(await figure(gateway, "gwc_requests_active")).toBe(0);
    // A core that is used fully is not hidden by one that is idle.
    for (const thread of ["main", "0", "1"]) {
      const busy = `gwc_event_loop_active_seconds_total{thread="${thread}"}`;
      expect(await figure(gateway, busy)).toBeGreaterThan(0);
    }
    expect(await gateway.stop()).toBe(0);
    const lines = gateway.stdout.split("\n").filter((line) => line.includes("http.status=200"));
    expect(lines).toHaveLength(rounds * 40);
    for (const line of lines) expect(line).toMatch(/^\S+\tinfo\trequest .* duration=\d+ms$/);
    expect(gateway.stdout.match(/draining|ended|listening on/g)).toEqual([
      "listening on",
      "draining",
      "ended",
    ]);
  });

  it("one that breaks down is started again, while the other one serves and nothing counted is lost", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const gateway = await startThreads(upstream);
    await gateway.seen(/2 threads serve/);
    await requests(gateway, 20);
    expect(await figure(gateway, served)).toBe(20);
    for (const index of ["0", "1"]) {
      const from = gateway.output.length;
      breakDown(gateway, index);
      await gateway.seen(/warn\s+gateway a thread has ended/, from);
      await requests(gateway, 5);
      await gateway.seen(/another thread replaces it/, from);
    }
    await requests(gateway, 10);
    expect(await figure(gateway, served)).toBeGreaterThanOrEqual(30);
    expect(await gateway.stop()).toBe(0);
  });

  it("let their requests end before the process ends with 0, and take no more", async () => {
    let finish: (() => void) | undefined;
    const upstream = await startUpstream((_request, response) => {
      // Clients that come before the ports are closed are served.
      if (finish !== undefined) {
        response.end("ok");
        return;
      }
      response.write("first");
      finish = () => response.end("last");
    });
    const gateway = await startThreads(upstream);
    await gateway.seen(/2 threads serve/);
    const client = new RawClient(gateway.port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/first/);
    const ready = `http://127.0.0.1:${await gateway.readinessPort()}/healthz/ready`;
    expect((await fetch(ready)).status).toBe(200);
    gateway.signal("SIGTERM");
    await gateway.seen(/draining/);
    expect((await fetch(ready)).status).toBe(503);
    await eventually(
      () =>
        request(gateway.url).then(
          () => null,
          () => true,
        ),
      "no more connections",
    );
    finish?.();
    await client.receives(/last/);
    expect(await gateway.exited).toBe(0);
  });
});

describe("limits of two threads", () => {
  /** Requests at once, each over a connection of its own; how many were let through. */
  async function passed(gateway: Gateway, count: number, path: string): Promise<number> {
    const url = `${gateway.url}${path}`;
    const sent = Array.from({ length: count }, () => request(url));
    const statuses = await Promise.all(sent);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 200).length;
  }

  it("let as much through as one would, all together and caller by caller, and outlive a thread", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const limit = { maxTokens: 30, tokensPerFill: 1, fillInterval: "30m" };
    const backends = [{ host: upstream }];
    const gateway = await startThreads(upstream, {}, [
      {
        matches: [{ path: { pathPrefix: "/keyed" } }],
        policies: { localRateLimit: [{ ...limit, key: "request.path" }] },
        backends,
      },
      { policies: { localRateLimit: [limit] }, backends },
    ]);
    await gateway.seen(/2 threads serve/);
    expect(await passed(gateway, 80, "/")).toBe(30);
    expect(await passed(gateway, 80, "/keyed/a")).toBe(30);
    expect(await passed(gateway, 40, "/keyed/b")).toBe(30);
    breakDown(gateway, 0);
    await gateway.seen(/another thread replaces it/);
    expect(await passed(gateway, 20, "/")).toBe(0);
    expect(await passed(gateway, 20, "/keyed/a")).toBe(0);
  });
});

describe("the number of threads", () => {
  it("is one if WORKER_THREADS is 1", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const gateway = await startThreads(upstream, { WORKER_THREADS: "1" });
    await requests(gateway, 2);
    await gateway.stop();
    expect(gateway.output).not.toMatch(/threads/i);
  });

  it("is a part of the cores where it is a percentage, at least one", () => {
    const cores = availableParallelism();
    const threads = (workerThreads: WorkerThreads, variable?: string): number =>
      workerCount({ workerThreads, connections: { maxConnections: 1000 } }, variable);
    expect(threads({ percent: 100 })).toBe(cores);
    expect(threads({ percent: 1 })).toBe(Math.max(1, Math.round(cores / 100)));
    expect(threads(4, "300%")).toBe(3 * cores);
    expect(threads(4)).toBe(4);
  });

  it("has to be a number, and the port nobody else's: the gateway says why it does not start", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const { folder } = await startThreads(upstream);
    const again = (env: Readonly<Record<string, string>>): Gateway =>
      new Gateway(path.join(folder, "gateway.mjs"), folder, env);
    const wrong = again({ WORKER_THREADS: "many" });
    expect(await wrong.exited).toBe(1);
    expect(wrong.stderr).toBe(
      'error: WORKER_THREADS must be a number or a part like "50%", not "many"\n',
    );
    // The system would let both processes share it.
    const second = again({});
    expect(await second.exited).toBe(1);
    expect(second.stderr).toMatch(
      /^error: cannot listen on 0\.0\.0\.0:\d+ .*the port is in use\n$/,
    );
  });
});

it("messages that several threads read whole have one bound", async () => {
  const cells = new Float64Array(new SharedArrayBuffer(16));
  const here = new BufferBudget(100, cells, 0);
  const there = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     workerData[1] = 70;
     parentPort.postMessage("taken");`,
    { eval: true, workerData: cells },
  );
  await new Promise((resolve) => there.once("message", resolve));
  expect(here.take(40)).toBe(false);
  expect(here.held).toBe(70);
  expect(here.take(30)).toBe(true);
  expect(here.held).toBe(100);
  here.give(30);
  expect(here.held).toBe(70);
  await there.terminate();
});
