import { expect, it } from "vitest";
import { usageTable } from "../../compiler/inspect/keys/usage-formats.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { RedisServer } from "../harness/redis.ts";
import { type Response, send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startHealthy } from "../llm/llm-upstream.ts";

/** A completion has 20 tokens of input, 4 of them cached, and 5 of output, so it costs 0.17 dollars. */
const rates = { input: "10000", cacheRead: "2500", output: "0" };
const modelCatalog = [{ inline: { providers: { ollama: { models: { fast: { rates } } } } } }];

/** Gateways with the same store, and the commands of its operator. */
async function start(env: Readonly<Record<string, string>>, more: object = {}) {
  const server = await startHealthy();
  const params = { baseUrl: `http://${server.host}/v1` };
  const redis = env.REDIS_URL === undefined ? {} : { store: { redis: { url: "${REDIS_URL}" } } };
  const file = (port: number) => ({
    name: "shop",
    config: {
      ...redis,
      modelCatalog,
      usage: { by: { team: "apiKey.team" }, selfService: true },
      ...more,
    },
    llm: {
      port,
      policies: { apiKey: { store: true, mode: "optional" } },
      models: [{ name: "*", provider: "ollama", params }],
    },
  });
  const cwd = temporaryFolder({ "gateway.yaml": JSON.stringify(file(4000)) });
  const run = (...argv: string[]) => gwc(argv, { cwd, env });
  const replica = async (): Promise<Gateway> =>
    startGateway({ config: file(await freePort()), env });
  const makeKey = async (name: string, team: string) =>
    (await run("keys", "create", name, "--metadata", `team=${team}`)).stdout.trim();
  const report = async (...argv: string[]): Promise<Report> => {
    const { stdout, stderr } = await run("usage", "--format", "json", ...argv);
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  };
  return { run, replica, makeKey, report };
}

interface Report {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly total: Readonly<Record<string, number>>;
}

function ask({ url }: Gateway, key: string | undefined, model = "fast"): Promise<Response> {
  return send(
    `${url}/v1/chat/completions`,
    "POST",
    {
      "content-type": "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  );
}

async function askOften(gateway: Gateway, key: string, count: number, model?: string) {
  const all = Array.from({ length: count }, () => ask(gateway, key, model));
  for (const { status } of await Promise.all(all)) expect(status).toBe(200);
}

it("usage of all replicas adds up exactly, by key, team, model and day", async () => {
  const { run, replica, makeKey, report } = await start({
    REDIS_URL: (await RedisServer.start()).url,
  });
  const [one, other] = await Promise.all([replica(), replica()]);
  const [ci, web] = [await makeKey("ci", "red"), await makeKey("web", "blue")];
  await Promise.all([
    askOften(one, ci, 120),
    askOften(other, ci, 80),
    askOften(other, web, 30),
    askOften(one, web, 3, "unpriced"),
  ]);
  await ask(one, undefined);
  await eventually(
    async () => ((await report()).total.requests === 234 ? true : null),
    "all usage is stored",
  );
  const { rows, total } = await report("--by", "team,model");
  const amounts = (requests: number, unpricedRequests = 0) => ({
    ...{ requests, inputTokens: requests * 20, outputTokens: requests * 5, unpricedRequests },
    cost: unpricedRequests > 0 ? 0 : Number((requests * 0.17).toFixed(9)),
  });
  expect(rows).toEqual([
    { team: "red", model: "fast", ...amounts(200) },
    { team: "blue", model: "fast", ...amounts(30) },
    { team: "", model: "fast", ...amounts(1) },
    { team: "blue", model: "unpriced", ...amounts(3, 3) },
  ]);
  expect(total).toEqual({ ...amounts(234, 3), cost: 39.27 });
  const day = new Date().toISOString().slice(0, 10);
  const csv = await run(
    "usage",
    "--by",
    "day,key",
    "--since",
    day,
    "--until",
    day,
    "--format",
    "csv",
  );
  expect(csv.stdout.split("\r\n")).toEqual([
    "day,key,requests,inputTokens,outputTokens,cost,unpricedRequests",
    `${day},ci,200,4000,1000,34,0`,
    `${day},web,33,660,165,5.1,3`,
    `${day},,1,20,5,0.17,0`,
    "",
  ]);
  expect((await run("usage", "--by", "key")).stdout.split("\n")).toEqual([
    "KEY    REQUESTS  INPUT  OUTPUT    COST  UNPRICED",
    "ci          200   4000    1000  $34.00         0",
    "web          33    660     165   $5.10         3",
    "-             1     20       5   $0.17         0",
    "total       234   4680    1170  $39.27         3",
    "",
  ]);
});

it("a table shows costs below a cent", () => {
  const counts = { requests: 1, inputTokens: 1000, outputTokens: 500, unpriced: 0 };
  const cheap = { ...counts, cost: 1_250_000 };
  const none = { ...counts, cost: 0 };
  const groups = [
    { values: ["cheap"], counts: cheap },
    { values: ["none"], counts: none },
  ];
  const report = { since: "2026-11-01", until: "2026-11-30", by: ["model"], groups, total: cheap };
  const [, ...rows] = usageTable(report).trimEnd().split("\n");
  expect(rows.map((row) => row.split(/ +/).at(-1))).toEqual(["$0.0013", "$0.00", "$0.0013"]);
});

it("a caller sees the own usage alone", async () => {
  const { replica, makeKey } = await start({ GWC_STATE_DIR: temporaryFolder() });
  const gateway = await replica();
  const [ci, web] = [await makeKey("ci", "red"), await makeKey("web", "red")];
  await askOften(gateway, ci, 2);
  await askOften(gateway, web, 5);
  const own = (key: string | undefined, query = "") =>
    send(`${gateway.url}/v1/usage${query}`, "GET", {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    });
  const total = async (key: string) => JSON.parse((await own(key)).body).total.requests;
  await eventually(async () => ((await total(web)) === 5 ? true : null), "usage is stored");
  expect(JSON.parse((await own(ci, "?by=model,month")).body)).toMatchObject({
    object: "usage",
    data: [{ model: "fast", requests: 2, input_tokens: 40, output_tokens: 10, cost_usd: 0.34 }],
    total: { requests: 2, unpriced_requests: 0 },
  });
  expect((await own(undefined)).status).toBe(401);
  expect((await own(ci, "?by=key")).status).toBe(400);
  expect((await own(ci, "?since=2026-13-01")).status).toBe(400);
  expect((await own(ci, "?since=2020-01-01&until=2024-01-01")).status).toBe(400);
});

it("a caller with a spent budget gets its name and its reset, and still sees the own usage", async () => {
  const { replica, run } = await start({ GWC_STATE_DIR: temporaryFolder() });
  const gateway = await replica();
  const made = await run("keys", "create", "ci", "--budget", "0.3/month");
  const key = made.stdout.trim();
  await askOften(gateway, key, 1);
  await eventually(async () => {
    const { status, body } = await ask(gateway, key);
    if (status === 200) return null;
    expect([status, body]).toEqual([
      429,
      expect.stringMatching(
        /the budget of the API key per month \(0\.3 US dollars\) is spent; it resets at \d{4}-\d\d-01T00:00:0\dZ/,
      ),
    ]);
    return true;
  }, "the end of the budget");
  const headers = { authorization: `Bearer ${key}` };
  expect((await send(`${gateway.url}/v1/usage`, "GET", headers)).status).toBe(200);
});

it("usage of threads and of a process that drains is not lost", async () => {
  const env = { GWC_STATE_DIR: temporaryFolder() };
  const { replica, makeKey, report } = await start(env, { workerThreads: 2 });
  const gateway = await replica();
  const key = await makeKey("ci", "red");
  await askOften(gateway, key, 100);
  await gateway.stop();
  expect((await report()).total.requests).toBe(100);
});

it("no call counts twice when a gateway is killed, and only calls of the last second are lost", async () => {
  const redis = await RedisServer.start();
  const { replica, makeKey, report } = await start({ REDIS_URL: redis.url });
  const gateway = await replica();
  const key = await makeKey("ci", "red");
  await askOften(gateway, key, 50);
  const stored = async () => (await report()).total.requests ?? 0;
  await eventually(async () => ((await stored()) === 50 ? true : null), "usage is stored");
  const rest = Array.from({ length: 100 }, () => ask(gateway, key).catch(() => undefined));
  await Promise.race(rest);
  await gateway.stop("SIGKILL");
  await Promise.all(rest);
  await redis.settled();
  const total = await stored();
  expect(total).toBeGreaterThanOrEqual(50);
  expect(total).toBeLessThanOrEqual(50 + rest.length);
  const again = await replica();
  await askOften(again, key, 10);
  await eventually(async () => ((await stored()) === total + 10 ? true : null), "usage is stored");
});

it("usage waits for a store that is away, and is stored once", async () => {
  const redis = await RedisServer.start();
  const { replica, makeKey, report } = await start({ REDIS_URL: redis.url });
  const gateway = await replica();
  const key = await makeKey("ci", "red");
  await askOften(gateway, key, 5);
  await redis.kill();
  await gateway.seen(/the store does not respond/);
  await askOften(gateway, key, 7);
  await gateway.seen(/usage of models waits for the store/);
  await redis.start();
  await gateway.seen(/the store responds again/);
  await askOften(gateway, key, 1);
  await eventually(
    async () => ((await report()).total.requests === 13 ? true : null),
    "all usage is stored",
  );
});

it("questions that cannot be answered are refused with a hint", async () => {
  const { run } = await start({ GWC_STATE_DIR: temporaryFolder() });
  const refusal = async (...argv: string[]) => {
    const { code, stderr } = await run("usage", ...argv);
    return `${code} ${stderr}`;
  };
  expect(await refusal("--by", "modle")).toContain(
    '2 error: there is no column "modle"\nhint: did you mean model?',
  );
  expect(await refusal("--since", "yesterday")).toContain("--since needs a day such as 2026-11-01");
  expect(await refusal("--since", "2026-12-01", "--until", "2026-11-01")).toContain("is after");
  const cwd = temporaryFolder({
    "gateway.yaml": JSON.stringify({ llm: { models: [{ name: "m", provider: "ollama" }] } }),
  });
  const none = await gwc(["usage"], { cwd });
  expect([none.code, none.stderr]).toEqual([
    1,
    "error: this gateway stores no usage: write config: { usage: {} }\n",
  ]);
});
