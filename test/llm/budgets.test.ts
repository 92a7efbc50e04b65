import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Agent, fetch } from "undici";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { modelsRoute } from "../kubernetes/models-route.ts";
import { complete, completion, startHealthy, startStream, streamed } from "./llm-upstream.ts";

const key = 'request.headers["x-team"]';
/** 40 for each completion of the upstream, which has 20 tokens of input and 5 of output. */
const cost = "double(llm.inputTokens) + double(llm.outputTokens) * 4.0";

const limits = {
  monthly: [{ budget: 100, unit: "Months", key, cost }],
  bucket: [{ maxTokens: 1, tokensPerFill: 1, fillInterval: "1h", type: "tokens", cost: "0.5" }],
  priced: [
    { budget: 1, unit: "Days", cost: '{"known": 0.6}[llm.requestModel]' },
    { requests: 4, unit: "Days" },
  ],
  daily: [{ tokens: 30, unit: "Days" }],
  many: [{ tokens: 12_501, unit: "Months" }],
  endless: [{ tokens: 1_000_000_000, unit: "Months" }],
};

let upstream: { readonly host: string };

beforeAll(async () => {
  upstream = await startHealthy();
});

/** A gateway whose state is in a folder. */
function start(state: string, host = upstream.host): Promise<Gateway> {
  return startGateway({
    env: { KEY: "provider-key", GWC_STATE_DIR: state },
    listeners: [
      {
        routes: Object.entries(limits).map(([name, localRateLimit]) => ({
          name,
          matches: [{ path: { pathPrefix: `/${name}` } }],
          policies: { localRateLimit, backendAuth: { key: "${KEY}" } },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
        })),
      },
    ],
    file: { name: "spending" },
  });
}

/** The status of one completion. */
async function ask(gateway: Gateway, route: string, team = "a", model = "m"): Promise<number> {
  return (await response(gateway, route, team, model)).status;
}

async function refusal(gateway: Gateway, route: string) {
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  const headers = { "content-type": "application/json", "x-team": "a" };
  const refused = await fetch(`${gateway.url}/${route}`, { method: "POST", headers, body });
  return { status: refused.status, text: await refused.text() };
}

async function response(gateway: Gateway, route: string, team = "a", model = "m") {
  const answered = await fetch(`${gateway.url}/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-team": team },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  await answered.text();
  return answered;
}

async function statuses(count: number, each: () => Promise<number>): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) found.push(await each());
  return found;
}

/** Returns the persisted usage of a limit; null if the file does not contain it yet. */
function written(state: string, limit: string): number | null {
  try {
    const { limits: all } = JSON.parse(readFileSync(fileOf(state), "utf8"));
    const uses: { used: number }[] = Object.values(all[limit] ?? {});
    return uses.length === 0 ? null : uses.reduce((sum, { used }) => sum + used, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

const fileOf = (state: string): string => path.join(state, "spending.limits.json");

describe("what calls cost", () => {
  it("is charged to the caller's monthly budget", async () => {
    const gateway = await start(temporaryFolder());
    expect(await statuses(4, () => ask(gateway, "monthly"))).toEqual([200, 200, 200, 429]);
    expect(await ask(gateway, "monthly", "b")).toBe(200);
    const { headers } = await response(gateway, "monthly");
    expect(headers.get("x-ratelimit-limit")).toBe("100");
    const now = new Date();
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const until = Date.now() + Number(headers.get("retry-after")) * 1000;
    expect(Math.abs(until - next)).toBeLessThan(120_000);
  });

  it("is charged to the caller's monthly budget of a manifest", async () => {
    const [host = "", port = ""] = upstream.host.split(":");
    const config = `${modelsRoute(await freePort())}apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec: {ai: {provider: {openai: {}, host: ${host}, port: ${port}}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: spending}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: chat}]
  traffic: {rateLimit: {local: [{budget: 100, unit: Months, key: '${key}', cost: '${cost}'}]}}
`;
    const gateway = await startGateway({ config, folder: temporaryFolder() });
    expect(await statuses(4, () => ask(gateway, "any"))).toEqual([200, 200, 200, 429]);
    expect(await ask(gateway, "any", "b")).toBe(200);
    expect((await refusal(gateway, "any")).text).toMatch(/your budget of 100 a month is spent/);
  });

  it("and says in the client's format which budget is spent, and when it resets", async () => {
    const gateway = await start(temporaryFolder());
    await statuses(3, () => ask(gateway, "monthly"));
    const { status, text } = await refusal(gateway, "monthly");
    expect(status).toBe(429);
    const { error } = JSON.parse(text);
    const [, reset = ""] =
      /^your budget of 100 a month is spent; it resets at (\S+)$/.exec(error.message) ?? [];
    expect(reset).toMatch(/^\d{4}-\d{2}-01T00:00:0\dZ$/);
  });

  it("does not keep a caller with a spent budget from reading, which costs nothing", async () => {
    const gateway = await start(temporaryFolder());
    expect(await statuses(4, () => ask(gateway, "monthly"))).toEqual([200, 200, 200, 429]);
    const headers = { "x-team": "a" };
    const { status } = await fetch(`${gateway.url}/monthly/v1/models`, { headers });
    expect(status).not.toBe(429);
  });

  it("may be a fraction", async () => {
    const gateway = await start(temporaryFolder());
    expect(await statuses(3, () => ask(gateway, "bucket"))).toEqual([200, 200, 429]);
  });

  it("of a model without a price is zero, which is logged", async () => {
    const gateway = await start(temporaryFolder());
    expect(await ask(gateway, "priced", "a", "unknown")).toBe(200);
    await gateway.seen(/did not count a call of "unknown" on route priced: it has no cost/);
    expect(await statuses(3, () => ask(gateway, "priced", "a", "known"))).toEqual([200, 200, 429]);
  });
});

describe("limits by the day and month", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)("continue after a restart: %s", async (signal) => {
    const state = temporaryFolder();
    const first = await start(state);
    expect(await ask(first, "daily")).toBe(200);
    expect(await ask(first, "monthly")).toBe(200);
    if (signal === "SIGKILL") {
      await eventually(() => written(state, "monthly/budgetPerMonthByKey") === 40 || null, "it");
    }
    await first.stop(signal);
    const second = await start(state);
    expect(await statuses(2, () => ask(second, "daily"))).toEqual([200, 429]);
    expect(await statuses(3, () => ask(second, "monthly"))).toEqual([200, 200, 429]);
  });

  it("lose at most a second when the process is killed", async () => {
    // A machine that is too busy to write in half a second tells nothing.
    for (let attempt = 1; ; attempt++) {
      const state = temporaryFolder();
      const gateway = await start(state);
      const times: number[] = [];
      const end = performance.now() + 2500;
      while (performance.now() < end) {
        await ask(gateway, "endless");
        times.push(performance.now());
      }
      const killed = performance.now();
      await gateway.stop("SIGKILL");
      const remembered = (written(state, "endless/tokensPerMonth") ?? 0) / 25;
      const older = times.filter((time) => time < killed - 1000).length;
      if (remembered < older && attempt < 3) continue;
      expect(remembered).toBeGreaterThanOrEqual(older);
      return;
    }
  });

  it("reset with the next day and month, except for debts", async () => {
    const state = temporaryFolder();
    const since = Date.UTC(2024, 0);
    const until = Date.now() + 1e9;
    const last = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1);
    writeFileSync(
      fileOf(state),
      JSON.stringify({
        version: 1,
        limits: {
          "daily/tokensPerDay": { "": { used: 500, since, until } },
          "many/tokensPerMonth": { "": { used: 2 * 12_501, since: last, until } },
        },
      }),
    );
    const gateway = await start(state);
    expect(await ask(gateway, "daily")).toBe(200);
    expect(await ask(gateway, "many")).toBe(429);
  });

  it("are written atomically without the callers' keys", async () => {
    const state = temporaryFolder();
    const gateway = await start(state);
    let isAsking = true;
    const asking = statuses(100, () => ask(gateway, "many", "secret-team"));
    void asking.finally(() => {
      isAsking = false;
    });
    while (isAsking) {
      // It throws when the file is not whole.
      written(state, "many/tokensPerMonth");
      await ask(gateway, "monthly", "secret-team");
    }
    await eventually(() => written(state, "many/tokensPerMonth") === 2500 || null, "the rest");
    expect(readFileSync(fileOf(state), "utf8")).not.toContain("secret-team");
    expect(statSync(fileOf(state)).mode & 0o777).toBe(0o600);
  });

  it("reset when their file cannot be read, which is logged", async () => {
    const state = temporaryFolder();
    writeFileSync(fileOf(state), '{"version":1,"limits":{');
    const gateway = await start(state);
    expect(await ask(gateway, "daily")).toBe(200);
    await gateway.seen(/cannot read \S+spending\.limits\.json; renamed it and reset the limits/);
    await eventually(() => written(state, "daily/tokensPerDay") === 25 || null, "a new one");
  });

  it("remember callers with usage, however many keys are invented", async () => {
    const gateway = await start(temporaryFolder());
    await statuses(3, () => ask(gateway, "monthly", "spender"));
    const { port } = gateway;
    // Requests that end before anything is spent: their bodies are no JSON.
    for (let batch = 0; batch < 101; batch++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          // Unlike the harness's client, this one reuses its connections.
          fetch(`http://127.0.0.1:${port}/monthly`, {
            method: "POST",
            headers: { "x-team": `${batch}-${index}` },
            body: "x",
          }).then((response) => response.text()),
        ),
      );
    }
    expect(await ask(gateway, "monthly", "spender")).toBe(429);
  });

  it("are only in memory without GWC_STATE_DIR, which is logged once", async () => {
    const gateway = await start("");
    await ask(gateway, "daily");
    await ask(gateway, "monthly");
    await gateway.stop();
    expect(gateway.output.match(/GWC_STATE_DIR is not set/g)).toHaveLength(1);
  });

  it("keep a gateway from starting whose state folder is not a folder", async () => {
    const folder = path.join(temporaryFolder(), "absent");
    await expect(start(folder)).rejects.toThrow(
      /error: GWC_STATE_DIR must be a directory that can be written to, not ".*absent"/,
    );
  });
});

it("a provider that reports no tokens costs about a quarter of its bytes", async () => {
  const { usage: _, ...silent } = JSON.parse(completion);
  const text = "word ".repeat(40);
  const choices = [
    { index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" },
  ];
  const { host } = await startScripted((out) => {
    out.setHeader("content-type", "application/json");
    out.end(JSON.stringify({ ...silent, choices }));
  });
  const gateway = await start(temporaryFolder(), host);
  expect(await statuses(2, () => ask(gateway, "daily"))).toEqual([200, 429]);
});

it("500 concurrent streams are counted exactly", async () => {
  const open: (() => void)[] = [];
  const { host } = await startScripted((out, _, request) => {
    if (JSON.parse(request.body.toString()).stream !== true) {
      complete(out, request);
      return;
    }
    startStream(out);
    out.write(streamed[0] ?? "");
    open.push(() => out.end(streamed.slice(1).join("")));
    // All are in flight before the first one ends.
    if (open.length === 500) for (const end of open) end();
  });
  const state = temporaryFolder();
  const gateway = await start(state, host);
  const dispatcher = new Agent({ connections: 500 });
  const stream = async (): Promise<string> => {
    const answered = await fetch(`${gateway.url}/many`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "m",
        stream: true,
        messages: [{ role: "user", content: "Hello" }],
      }),
      dispatcher,
    });
    return answered.text();
  };
  const texts = await Promise.all(Array.from({ length: 500 }, stream));
  await dispatcher.close();
  expect(texts.filter((text) => text.endsWith("data: [DONE]\n\n"))).toHaveLength(500);
  await eventually(() => written(state, "many/tokensPerMonth") === 12_500 || null, "all");
  // One token is left: it lets one more in, and no other.
  expect(await statuses(2, () => ask(gateway, "many"))).toEqual([200, 429]);
});
