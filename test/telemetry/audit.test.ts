import { existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Returns the lines without their time. */
function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line.includes('"scope":"audit"'))
    .map((line) => {
      const { time, ...rest } = JSON.parse(line);
      expect(new Date(time).toString()).not.toBe("Invalid Date");
      return rest;
    });
}

function routes() {
  const keys = { keys: [{ key: "${TEAM_KEY}", metadata: { team: "blue" } }] };
  return [
    {
      name: "tools",
      policies: {
        apiKey: keys,
        authorization: { rules: [{ deny: 'request.path == "/admin"' }] },
        directResponse: { status: 200, body: "ok" },
      },
    },
  ];
}

it("refusals, logins and actions of the process are logged in a separate file", async () => {
  const folder = temporaryFolder();
  const gateway = await startGateway({
    file: { config: { logging: { audit: { file: "audit.log" } } } },
    listeners: [{ name: "web", routes: routes() }],
    env: { TEAM_KEY: "a-team-key" },
    folder,
  });
  const ask = async (at: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await fetch(`${gateway.url}${at}`, { headers })).status;
  };
  expect(await ask("/?key=query-secret", "a-team-key")).toBe(200);
  expect(await ask("/again", "a-team-key")).toBe(200);
  expect(await ask("/admin", "a-team-key")).toBe(403);
  expect(await ask("/", "another-key")).toBe(401);
  expect(await ask("/")).toBe(401);
  expect(await gateway.stop()).toBe(0);
  const text = readFileSync(path.join(folder, "audit.log"), "utf8");
  const common = {
    level: "info",
    scope: "audit",
    "http.method": "GET",
    "http.host": `127.0.0.1:${gateway.port}`,
    "src.addr": expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    listener: "web",
    route: "tools",
  };
  const identity = expect.stringMatching(/^key [0-9a-f]{12}$/);
  const noKey = {
    ...{ ...common, event: "denied", reason: "APIKeyAuth" },
    ...{ "http.path": "/", "http.status": 401 },
  };
  const own = { level: "info", scope: "audit", "config.digest": expect.stringMatching(/^\w{12}$/) };
  expect(linesOf(text)).toEqual([
    { ...own, event: "started" },
    { ...common, event: "login", identity, "http.path": "/", "http.status": 200 },
    {
      ...common,
      event: "denied",
      identity,
      "http.path": "/admin",
      "http.status": 403,
      reason: "Authorization",
      rule: "gateway.yaml routes[tools].policies.authorization: rules[0].deny",
    },
    { ...noKey, error: "an unknown API key" },
    { ...noKey, error: "no API key in authorization" },
    { ...own, event: "draining" },
    { ...own, event: "ended" },
  ]);
  expect(text).not.toMatch(/secret|team-key|another-key/);
  expect(gateway.output).not.toContain('"scope":"audit"');
});

it("a file that was moved away is recreated, and a truncated one continues from its start", async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, "audit.log");
  const gateway = await startGateway({
    file: { config: { logging: { audit: { file: "audit.log" } } } },
    listeners: [{ name: "web", routes: routes() }],
    env: { TEAM_KEY: "k" },
    folder,
  });
  const pathsIn = (name: string) =>
    linesOf(readFileSync(name, "utf8")).flatMap(({ "http.path": at }) => at ?? []);
  /** Sends a refused request and waits for its line. */
  const refused = async (at: string) => {
    await fetch(`${gateway.url}${at}`);
    await eventually(() => (existsSync(file) && pathsIn(file).at(-1) === at) || null, at);
  };
  await refused("/first");
  renameSync(file, `${file}.1`);
  await refused("/second");
  expect(pathsIn(`${file}.1`)).toEqual(["/first"]);
  expect(pathsIn(file)).toEqual(["/second"]);
  truncateSync(file);
  await refused("/third");
  expect(readFileSync(file, "utf8").startsWith("{")).toBe(true);
  expect(pathsIn(file)).toEqual(["/third"]);
  rmSync(file);
  await refused("/fourth");
});

it("without a file, audit lines are written to the access log", async () => {
  const listeners = [{ name: "web", routes: routes() }];
  const env = { TEAM_KEY: "k" };
  const audited = await startGateway({
    file: { config: { logging: { audit: {} } } },
    listeners,
    env,
  });
  await fetch(audited.url);
  expect(linesOf((await audited.seen(/^.*"event":"denied".*$/m))[0])).toMatchObject([
    { event: "denied", reason: "APIKeyAuth" },
  ]);
  const plain = await startGateway({ listeners, env });
  await fetch(plain.url);
  await plain.seen(/^.*\trequest .*$/m);
  await plain.stop();
  expect(plain.output).not.toContain("audit");
});

it("a client that may not connect is logged, also on HTTP ports", async () => {
  const gateway = await startGateway({
    file: {
      config: { logging: { audit: {} } },
      frontendPolicies: { networkAuthorization: { rules: ['source.address == "10.0.0.1"'] } },
    },
    listeners: [{ routes: [{ policies: { directResponse: { status: 200 } } }] }],
  });
  await new RawClient(gateway.port).closes();
  const [line] = await gateway.seen(/^.*"event":"denied".*$/m);
  expect(linesOf(line)).toEqual([
    {
      level: "info",
      scope: "audit",
      event: "denied",
      "src.addr": expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      reason: "Authorization",
      error: "not allowed by gateway.yaml frontendPolicies.networkAuthorization: no rule allows it",
    },
  ]);
});

it("a connection that rules refuse is logged", async () => {
  const port = await freePort();
  const gateway = await startGateway({
    config: {
      config: { logging: { audit: {} } },
      binds: [
        {
          port,
          listeners: [
            {
              name: "db",
              protocol: "TCP",
              tcpRoutes: [
                {
                  name: "postgres",
                  policies: { authorization: { rules: ['source.address == "10.0.0.1"'] } },
                  backends: [{ host: `127.0.0.1:${await freePort()}` }],
                },
              ],
            },
          ],
        },
      ],
    },
  });
  await new RawClient(port).closes();
  const [line] = await gateway.seen(/^.*"event":"denied".*$/m);
  expect(linesOf(line)).toMatchObject([
    {
      listener: "db",
      route: "postgres",
      reason: "Authorization",
      error:
        "not allowed by gateway.yaml tcpRoutes[postgres].policies.authorization: no rule allows it",
    },
  ]);
});

it("gwc run logs which configurations it serves and refuses, with the digests of its metrics", async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, "gateway.yaml");
  const port = await freePort();
  const write = (status: unknown) =>
    writeFileSync(
      file,
      JSON.stringify({
        config: {
          logging: { audit: { file: "audit.log" } },
          statsAddr: "127.0.0.1:0",
          readinessAddr: "127.0.0.1:0",
        },
        binds: [
          {
            port,
            listeners: [{ routes: [{ policies: { directResponse: { status, body: "x" } } }] }],
          },
        ],
      }),
    );
  write(200);
  const running = new GwcProcess(["run", "-f", file], {
    cwd: folder,
    env: { ADMIN_ADDR: "127.0.0.1:0" },
  });
  // The file is followed from here on.
  await running.seen(/admin page/);
  write(201);
  await running.seen(/changed: /);
  write("no status");
  await running.seen(/was not applied/);
  const events = () =>
    linesOf(readFileSync(path.join(folder, "audit.log"), "utf8")).map(
      ({ event, "config.digest": digest }) => [event, digest],
    );
  const [started, configured, refused] = await eventually(
    () => (events().length >= 3 ? events() : null),
    "three lines",
  );
  expect([started?.[0], configured?.[0], refused?.[0]]).toEqual([
    "started",
    "configured",
    "configuration-refused",
  ]);
  expect(configured?.[1]).not.toBe(started?.[1]);
  expect(refused?.[1]).toBe(configured?.[1]);
  const [, stats] = await running.seen(/stats address on 127\.0\.0\.1:(\d+)/);
  const { value, text } = await expositionOf(Number(stats));
  expect(value('gwc_config_reloads_total{result="ok"}')).toBe(1);
  expect(value('gwc_config_reloads_total{result="failed"}')).toBe(1);
  expect(value("gwc_config_last_reload_successful")).toBe(0);
  expect(text).toContain(`config_digest="${configured?.[1]}"`);
  await running.stop();
});
