import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { breakDown, fragileThreads } from "../harness/fragile-threads.ts";
import { Gateway, startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** The status of a request over a connection of its own: the kernel chooses the thread. */
function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: new Agent(), headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}

function askOften(url: string, count: number, headers?: Record<string, string>): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => ask(url, headers)));
}

/** As its bundle runs anew. */
function again(before: Gateway, env: Readonly<Record<string, string>>): Promise<Gateway> {
  return new Gateway(path.join(before.folder, "gateway.mjs"), before.folder, env).listening();
}

const hello = { directResponse: { status: 200, body: "hello" } };

describe("limits by the day of several threads", () => {
  const daily = { requests: 30, unit: "Days" };
  const key = 'request.headers["x-team"]';
  const routes = [
    {
      name: "keyed",
      matches: [{ path: { pathPrefix: "/keyed" } }],
      policies: { ...hello, localRateLimit: [{ ...daily, key }] },
    },
    { name: "all", policies: { ...hello, localRateLimit: [daily] } },
  ];

  function start(threads: number, state?: string): Promise<Gateway> {
    const { env, file, folder } = fragileThreads(threads);
    const own = { ...env, ...(state !== undefined && { GWC_STATE_DIR: state }) };
    return startGateway({
      listeners: [{ routes }],
      ...{ file: { ...file, name: "shop" }, folder, env: own },
    });
  }

  async function passed(gateway: Gateway, count: number, at: string, team = ""): Promise<number> {
    const statuses = await askOften(`${gateway.url}${at}`, count, { "x-team": team });
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 200).length;
  }

  it("are counted together, and by processes of one thread and of several after each other", async () => {
    const state = temporaryFolder();
    const first = await start(3, state);
    await first.seen(/3 threads serve/);
    expect(await passed(first, 10, "/")).toBe(10);
    expect(await passed(first, 50, "/keyed", "red")).toBe(30);
    breakDown(first, 1);
    await first.seen(/another thread replaces it/);
    expect(await passed(first, 5, "/keyed", "red")).toBe(0);
    expect(await first.stop()).toBe(0);
    const file = path.join(state, "shop.limits.json");
    const { limits } = JSON.parse(readFileSync(file, "utf8"));
    const used = (name: string) =>
      Object.values<{ used: number }>(limits[name]).map((each) => each.used);
    expect(used("all/perDay")).toEqual([10]);
    expect(used("keyed/perDayByKey")).toEqual([30]);
    expect(readFileSync(file, "utf8")).not.toContain("red");

    const alone = await again(first, { GWC_STATE_DIR: state, WORKER_THREADS: "1" });
    expect(await passed(alone, 5, "/keyed", "red")).toBe(0);
    expect(await passed(alone, 7, "/")).toBe(7);
    expect(await passed(alone, 12, "/keyed", "blue")).toBe(12);
    expect(await alone.stop()).toBe(0);

    const third = await again(first, { GWC_STATE_DIR: state });
    await third.seen(/3 threads serve/);
    expect(await passed(third, 40, "/keyed", "red")).toBe(0);
    expect(await passed(third, 40, "/keyed", "blue")).toBe(18);
    expect(await passed(third, 40, "/")).toBe(13);
    await third.stop();
  });

  it("are in the file while they serve, and it is put aside when it can't be read", async () => {
    const state = temporaryFolder({ "shop.limits.json": '{"version":1,"limits":{' });
    const gateway = await start(2, state);
    await gateway.seen(/2 threads serve/);
    expect(await passed(gateway, 40, "/")).toBe(30);
    await gateway.seen(/cannot read \S+shop\.limits\.json; renamed it and reset the limits/);
    const used = () => {
      try {
        const text = readFileSync(path.join(state, "shop.limits.json"), "utf8");
        return JSON.parse(text).limits["all/perDay"][""].used;
      } catch {
        return undefined;
      }
    };
    await eventually(() => used() === 30 || null, "all of them in the file");
    await gateway.stop("SIGKILL");
    const restarted = await again(gateway, { GWC_STATE_DIR: state });
    expect(await passed(restarted, 10, "/")).toBe(0);
    await restarted.stop();
    expect(restarted.output).not.toMatch(/GWC_STATE_DIR|can't/);
  });

  it.each([1, 2])("that can't be written down keep %i threads from starting", async (threads) => {
    const state = temporaryFolder({ "shop.limits.json/a": "" });
    const gateway = await start(1, temporaryFolder());
    await gateway.stop();
    const env = { GWC_STATE_DIR: state, WORKER_THREADS: String(threads) };
    const restarted = new Gateway(path.join(gateway.folder, "gateway.mjs"), gateway.folder, env);
    expect(await restarted.exited).toBe(1);
    expect(restarted.stderr).toMatch(
      /^error: \S+shop\.limits\.json must be a file, which persists the usage of limits; move it away\n$/,
    );
  });

  it.each([1, 2])(
    "are in memory where the file can't be had later (%i threads)",
    async (threads) => {
      const state = temporaryFolder();
      const gateway = await start(threads, state);
      if (threads > 1) await gateway.seen(/threads serve/);
      // Neither can be read, and the one can't be put aside for the other.
      for (const name of ["shop.limits.json", "shop.limits.json.unreadable"]) {
        mkdirSync(path.join(state, name));
        writeFileSync(path.join(state, name, "a"), "");
      }
      expect(await passed(gateway, 40, "/")).toBe(30);
      expect(await passed(gateway, 10, "/")).toBe(0);
      await gateway.seen(/reset the limits, which are only in memory/);
      await gateway.seen(/cannot write \S+shop\.limits\.json/);
      expect(gateway.output).not.toContain("bug");
      expect(await gateway.stop()).toBe(0);
    },
  );

  it("begin anew without a folder for them, which is said once", async () => {
    const gateway = await start(2);
    await gateway.seen(/2 threads serve/);
    await passed(gateway, 20, "/");
    await passed(gateway, 20, "/keyed", "red");
    await gateway.stop();
    expect(gateway.output.match(/GWC_STATE_DIR is not set/g)).toHaveLength(1);
  });
});

describe("the audit log of several threads", () => {
  const policies = {
    ...hello,
    apiKey: { keys: [{ key: "${TEAM_KEY}", metadata: { team: "blue" } }] },
  };
  const routes = [{ name: "tools", policies }];
  const good = { authorization: "Bearer k" };

  async function start(file: string | undefined): Promise<Gateway> {
    const { env, file: threads, folder } = fragileThreads(3);
    const gateway = await startGateway({
      file: { config: { ...threads.config, logging: { audit: { file } } } },
      listeners: [{ name: "web", routes }],
      folder,
      env: { ...env, TEAM_KEY: "k" },
    });
    await gateway.seen(/3 threads serve/);
    return gateway;
  }

  const eventsIn = (text: string): string[] =>
    text
      .split("\n")
      .filter((line) => line.includes('"scope":"audit"'))
      .map((line) => JSON.parse(line).event);

  it("has each refusal, a login once however many threads see it, and what the process did once", async () => {
    const gateway = await start("audit.log");
    expect(new Set(await askOften(gateway.url, 60, good))).toEqual(new Set([200]));
    expect(new Set(await askOften(gateway.url, 60))).toEqual(new Set([401]));
    breakDown(gateway, 0);
    await gateway.seen(/another thread replaces it/);
    await askOften(gateway.url, 60, good);
    await askOften(gateway.url, 40);
    expect(await gateway.stop()).toBe(0);
    const events = eventsIn(readFileSync(path.join(gateway.folder, "audit.log"), "utf8"));
    expect([events[0], events.at(-1)]).toEqual(["started", "ended"]);
    expect(events.toSorted()).toEqual([
      ...Array(100).fill("denied"),
      ...["draining", "ended", "login", "started"],
    ]);
    expect(gateway.output).not.toContain('"scope":"audit"');
  });

  it("stands in the log where it has no file", async () => {
    const gateway = await start(undefined);
    await askOften(gateway.url, 20, good);
    await askOften(gateway.url, 20);
    expect(await gateway.stop()).toBe(0);
    expect(eventsIn(gateway.stdout).toSorted()).toEqual([
      ...Array(20).fill("denied"),
      ...["draining", "ended", "login", "started"],
    ]);
  });

  it("that can't be written keeps the gateway from starting", async () => {
    const gateway = await start("audit.log");
    await gateway.stop();
    writeFileSync(path.join(gateway.folder, "none"), "");
    const broken = startGateway({
      file: { config: { workerThreads: 2, logging: { audit: { file: "none/audit.log" } } } },
      listeners: [{ name: "web", routes }],
      folder: gateway.folder,
      env: { TEAM_KEY: "k" },
    });
    await expect(broken).rejects.toThrow(/error: cannot write the audit log: ENOTDIR/);
  });
});
