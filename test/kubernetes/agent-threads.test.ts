import { Agent, createServer, get, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { eventually } from "../harness/eventually.ts";
import { startEverything } from "../harness/everything-server.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { connectSession } from "../mcp/session-client.ts";
import { AgentWorld, manifestsOf, type WorldGeneration } from "./agent-world.ts";

/** A request over a connection of its own: the kernel chooses the thread. */
function ask(url: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: new Agent() }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    }).on("error", reject);
  });
}

/** The same, asked again if the kernel resets the connection: a thread has closed its port while it waited in the queue. */
const askAgain = (url: string): ReturnType<typeof ask> =>
  ask(url).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") return askAgain(url);
    throw error;
  });

/** All that so many requests got. */
async function bodies(url: string, count = 30): Promise<ReadonlySet<string>> {
  const found = await Promise.all(Array.from({ length: count }, () => askAgain(url)));
  return new Set(found.map(({ body }) => body));
}

/** Requests without a pause, each over a connection of its own, until it is stopped. */
function startLoad(url: () => string): { stop(): Promise<readonly string[]> } {
  const failures: string[] = [];
  let isOver = false;
  const running = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const { status } = await ask(url()).catch((error) => ({ status: String(error) }));
      if (status !== 200) failures.push(String(status));
    }
  });
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(running);
      return failures;
    },
  };
}

/** The same over one connection that stays. */
function startKeptLoad(url: string): { stop(): Promise<readonly string[]> } {
  const failures: string[] = [];
  let isOver = false;
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const running = agents.map(async (agent) => {
    while (!isOver) {
      const status = await new Promise<string>((resolve) => {
        get(url, { agent }, (response) => {
          response.resume().on("end", () => resolve(String(response.statusCode)));
        }).on("error", (error) => resolve(String(error)));
      });
      if (status !== "200") failures.push(status);
    }
  });
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(running);
      for (const agent of agents) agent.destroy();
      return failures;
    },
  };
}

const threads = (count: number) => ({ config: { workerThreads: count } });
const text = (body: string) => ({ routes: { a: { text: body } } });

/** Loaded by every thread: one of them can't read modules while a file names it. */
const unreadable = `
const fs = require("node:fs");
const { workerData } = require("node:worker_threads");
const read = fs.readFileSync;
fs.readFileSync = (file, ...rest) => {
  if (workerData?.index === 1 && fs.existsSync("deny") && /[0-9a-f]{64}\\.ts$/.test(file))
    throw new Error("thread 1 reads nothing");
  return read(file, ...rest);
};
require("node:module").syncBuiltinESMExports();
`;

describe("a data plane of several threads", () => {
  it("serves each new generation with all of them, and its metrics say which", async () => {
    const world = await AgentWorld.start({ ...text("first"), ...threads(3) });
    const agent = await world.startAgent(3);
    await agent.seen(/3 threads serve/);
    const url = `http://127.0.0.1:${world.port}`;
    expect(await bodies(`${url}/a`)).toEqual(new Set(["first"]));
    const before = await world.figures();
    const next = { routes: { a: { text: "second" }, b: { text: "new" } }, ...threads(3) };
    expect(await world.push(next)).toBeUndefined();
    // Once it reports that, no other configuration is served.
    expect(await bodies(`${url}/a`)).toEqual(new Set(["second"]));
    expect(await bodies(`${url}/b`)).toEqual(new Set(["new"]));
    const after = await world.figures();
    const digest = (figures: { text: string }) => /config_digest="(\w+)"/.exec(figures.text)?.[1];
    expect(digest(after)).not.toBe(digest(before));
    await agent.seen(new RegExp(`serving generation ${digest(after)}`));
    expect(after.text.match(/^gwc_build_info/gm)).toHaveLength(1);
    expect(after.value('gwc_config_reloads_total{result="ok"}')).toBe(1);
    expect(after.value("gwc_config_last_reload_successful")).toBe(1);
    expect(await agent.stop()).toBe(0);
  });

  it("all threads keep serving the previous generation if one can't be served", async () => {
    const world = await AgentWorld.start({ ...text("first"), ...threads(2) });
    const agent = await world.startAgent(2);
    const url = `http://127.0.0.1:${world.port}/a`;
    const taken = createServer();
    const port = await listen(taken, "0.0.0.0");
    const broken = {
      ...text("second"),
      config: { ...threads(2).config, logging: { audit: { file: "/nowhere/audit.log" } } },
    };
    expect(await world.push(broken)).toMatch(/cannot write the audit log/);
    const occupied = {
      ...text("second"),
      config: { ...threads(2).config, statsAddr: `127.0.0.1:${port}` },
    };
    expect(await world.push(occupied)).toMatch(/the port is in use/);
    expect(await bodies(url)).toEqual(new Set(["first"]));
    const figures = await world.figures();
    expect(figures.value("gwc_config_last_reload_successful")).toBe(0);
    expect(figures.value('gwc_config_reloads_total{result="failed"}')).toBe(2);
    expect(await world.push({ ...text("third"), ...threads(2) })).toBeUndefined();
    expect(await bodies(url)).toEqual(new Set(["third"]));
    expect((await world.figures()).value("gwc_config_last_reload_successful")).toBe(1);
    expect(await agent.stop()).toBe(0);
  });

  it("all threads keep serving the previous generation if a single thread can't load the next", async () => {
    const world = await AgentWorld.start({ ...text("first"), ...threads(3) });
    const agent = await world.startAgent(3, unreadable);
    const url = `http://127.0.0.1:${world.port}`;
    world.write("deny");
    const next = { routes: { a: { text: "second" }, b: { text: "new" } }, ...threads(3) };
    expect(await world.push(next)).toBe("thread 1 reads nothing");
    expect(await bodies(`${url}/a`)).toEqual(new Set(["first"]));
    world.remove("deny");
    expect(await world.push({ ...next, routes: { a: { text: "third" } } })).toBeUndefined();
    expect(await bodies(`${url}/a`)).toEqual(new Set(["third"]));
    expect(await agent.stop()).toBe(0);
  });

  it("one that breaks down comes back with the newest generation, also while there is another one on its way", async () => {
    const world = await AgentWorld.start({ ...text("0"), ...threads(3) });
    const agent = await world.startAgent(3);
    const url = `http://127.0.0.1:${world.port}/a`;
    for (let generation = 1; generation <= 12; generation++) {
      const from = agent.output.length;
      world.breakDown(generation % 3);
      world.send({ ...text(String(generation)), ...threads(3) });
      expect(await world.settled()).toBeUndefined();
      await agent.seen(/another thread replaces it/, from);
      expect(await bodies(url)).toEqual(new Set([String(generation)]));
    }
    expect(await world.readiness()).toBe(200);
    expect(await agent.stop()).toBe(0);
  });

  it("loses no request under load, over connections that stay and new ones", async () => {
    const world = await AgentWorld.start({ ...text("0"), ...threads(2) });
    const agent = await world.startAgent(2);
    const url = `http://127.0.0.1:${world.port}/a`;
    const loads = [startLoad(() => url), startKeptLoad(url)];
    for (let generation = 1; generation <= 15; generation++)
      expect(await world.push({ ...text(String(generation)), ...threads(2) })).toBeUndefined();
    for (const load of loads) expect(await load.stop()).toEqual([]);
    expect(await bodies(url)).toEqual(new Set(["15"]));
    expect(await agent.stop()).toBe(0);
  });

  it("keeps streams, and what they began under, across generations", async () => {
    const open: ServerResponse[] = [];
    const upstream = createServer((_, response) => {
      response.write("begins ");
      open.push(response);
    });
    const server = `127.0.0.1:${await listen(upstream)}`;
    const world = await AgentWorld.start({ routes: { a: { server } }, ...threads(2) });
    const agent = await world.startAgent(2);
    const clients = Array.from({ length: 12 }, () => {
      const client = new RawClient(world.port);
      client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
      return client;
    });
    for (const client of clients) await client.receives(/begins/);
    for (const body of ["1", "2", "3"])
      expect(await world.push({ ...text(body), ...threads(2) })).toBeUndefined();
    expect(await bodies(`http://127.0.0.1:${world.port}/a`)).toEqual(new Set(["3"]));
    for (const response of open) response.end("ends");
    for (const client of clients) await client.receives(/ends/);
    expect(await agent.stop()).toBe(0);
  });

  it("keeps MCP sessions across generations, whichever thread a request reaches, also where the first had none", async () => {
    const world = await AgentWorld.start({ ...text("none"), ...threads(3) });
    const agent = await world.startAgent(3);
    const mcp = `127.0.0.1:${await startEverything("streamableHttp")}`;
    const routes = (body: string) => ({ mcp: { mcp }, a: { text: body } });
    expect(await world.push({ routes: routes("1"), ...threads(3) })).toBeUndefined();
    const apart: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set("connection", "close");
      return fetch(url, { ...init, headers });
    };
    const url = `http://127.0.0.1:${world.port}/mcp`;
    const client = await connectSession(url, undefined, apart);
    const echo = async (message: string) => {
      const { content } = await client.callTool({ name: "echo", arguments: { message } });
      return JSON.stringify(content);
    };
    for (let generation = 2; generation <= 4; generation++) {
      for (let call = 0; call < 8; call++) expect(await echo(`${call}`)).toContain(`Echo: ${call}`);
      const next = { routes: routes(String(generation)), ...threads(3) };
      expect(await world.push(next)).toBeUndefined();
    }
    expect(await echo("last")).toContain("Echo: last");
    await client.close();
    expect(await agent.stop()).toBe(0);
  });

  it("tells each of them which pods a Service has, also one that has started again", async () => {
    const pods = await Promise.all(
      ["first", "second"].map((body) =>
        listen(
          createServer((_, response) => response.end(body)),
          "127.0.0.1",
        ),
      ),
    );
    const [first = 0, second = 0] = pods;
    const world = await AgentWorld.start({ routes: { a: { service: "shop" } }, ...threads(3) });
    const agent = await world.startAgent(3);
    const url = `http://127.0.0.1:${world.port}/a`;
    // Each thread learns of them at its own time.
    const everywhere = (pod: string) =>
      eventually(async () => {
        const found = await bodies(url);
        return (found.size === 1 && found.has(pod)) || null;
      }, `the ${pod} pod at every thread`);
    await world.setPods("default/shop:80", [first]);
    await everywhere("first");
    await world.setPods("default/shop:80", [second]);
    await everywhere("second");
    world.breakDown(1);
    await agent.seen(/another thread replaces it/);
    await everywhere("second");
    expect(await agent.stop()).toBe(0);
  });

  it("tries another pod where one can't be reached", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.end("there"));
    });
    const there = await listen(server, "127.0.0.1");
    const gone = createServer();
    const away = await listen(gone, "127.0.0.1");
    await new Promise((resolve) => gone.close(resolve));
    const world = await AgentWorld.start({ routes: { a: { service: "shop" } }, ...threads(1) });
    const agent = await world.startAgent(1);
    await world.setPods("default/shop:80", [away, there]);
    const url = `http://127.0.0.1:${world.port}/a`;
    await eventually(async () => (await ask(url)).status === 200 || null, "the pods");
    for (let count = 0; count < 30; count++) {
      const headers = { connection: "close" };
      const response = await fetch(url, { method: "POST", body: "x".repeat(count), headers });
      expect(await response.text()).toBe("there");
      server.closeIdleConnections();
    }
    expect(await agent.stop()).toBe(0);
  });

  it("becomes more or fewer as a generation says, down to one, and limits hold with as many", async () => {
    const limit = { rateLimit: { local: [{ requests: 20, unit: "Hours" }] } };
    const limited = (body: string, count: number) => ({
      routes: { a: { text: body, policy: limit }, b: { text: body } },
      ...threads(count),
    });
    const world = await AgentWorld.start(limited("2", 2));
    const agent = await world.startAgent(2);
    const url = `http://127.0.0.1:${world.port}`;
    const passed = async () => {
      const all = await Promise.all(Array.from({ length: 60 }, () => ask(`${url}/a`)));
      return all.filter(({ status }) => status === 200).length;
    };
    expect(await passed()).toBe(20);
    for (const count of [4, 1, 3]) {
      const from = agent.output.length;
      expect(await world.push(limited(String(count), count))).toBeUndefined();
      await agent.seen(new RegExp(`${count} threads serve`), from);
      await eventually(async () => (await bodies(`${url}/b`)).size === 1 || null, "one answer");
      expect(await bodies(`${url}/b`)).toEqual(new Set([String(count)]));
    }
    expect(await passed()).toBe(0);
    expect(await agent.stop()).toBe(0);
  });

  it("that leave respond to clients that had connected and sent nothing yet", async () => {
    const world = await AgentWorld.start({ ...text("four"), ...threads(4) });
    const agent = await world.startAgent(4);
    const silent = Array.from({ length: 16 }, () => new RawClient(world.port));
    await Promise.all(
      silent.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))),
    );
    // Served by now: the kernel's queues are empty.
    await bodies(`http://127.0.0.1:${world.port}/a`, 60);
    const from = agent.output.length;
    world.send({ ...text("one"), ...threads(1) });
    await agent.seen(/1 threads serve/, from);
    for (const client of silent) client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    for (const client of silent) await client.receives(/^HTTP\/1.1 200 /);
    expect(await agent.stop()).toBe(0);
  });

  it("are several in other pods than one is: a Deployment changes its pods for no other generation", () => {
    const podOf = (generation: WorldGeneration) => {
      const files = manifestsOf({ ports: [8080, 15020, 15021], ...generation });
      const { gateways } = compileFiles(files, {
        ...{ image: "gwc", pullPolicy: undefined, address: "http://controller:9978" },
        ...{ audience: "gwc.dev/controller", authority: undefined, signer: "" },
      });
      const objects = [...gateways.values()].flatMap((gateway) => gateway.objects);
      const found = objects.find((each) => JSON.stringify(each).includes('"Deployment"'));
      if (found === undefined) throw new Error("no Deployment");
      return JSON.parse(JSON.stringify(found)).spec.template;
    };
    const one = podOf(text("first"));
    expect(podOf({ ...text("second"), ...threads(1) })).toEqual(one);
    const several = podOf({ ...text("first"), ...threads(2) });
    expect(several).not.toEqual(one);
    expect(podOf({ ...text("second"), ...threads(4) })).toEqual(several);
  });

  it("that began with one thread keeps it, and logs that", async () => {
    const world = await AgentWorld.start(text("first"));
    const agent = await world.startAgent(1);
    expect(await world.push({ ...text("second"), ...threads(2) })).toBeUndefined();
    await agent.seen(/2 threads are configured: one serves until this process restarts/);
    expect(await bodies(`http://127.0.0.1:${world.port}/a`)).toEqual(new Set(["second"]));
    expect(await agent.stop()).toBe(0);
    const restarted = await world.startAgent(1);
    await restarted.seen(/2 threads serve/);
    await restarted.stop();
  });
});
