import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Response, send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startRoutes } from "./routes.ts";

let services: EnvoyServices;
let gateway: Gateway;
/** The address of a model. */
let model: string;

/** A completion of 7 and 5 tokens. */
const completion = JSON.stringify({
  id: "1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
});

beforeAll(async () => {
  services = await startEnvoyServices();
  const echo = await startEcho();
  const url = await startUpstream((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" }).end(completion);
    });
  });
  model = new URL(url).host;
  const host = new URL(services.url).host;
  const user = { key: "user", value: 'request.headers["x-user"]' };
  const route = (descriptors: readonly object[], more: object = {}) => ({
    policies: {
      remoteRateLimit: { host, policies: patient, domain: "shop", descriptors, ...more },
    },
  });
  const tokens = (more: object) => ({
    ...route([{ type: "tokens", entries: [user], ...more }]),
    backends: [
      {
        ai: {
          name: "m",
          provider: { openAI: {} },
          hostOverride: model,
          policies: {},
        },
      },
    ],
  });
  gateway = await startRoutes(
    {
      user: route([{ entries: [user] }]),
      unlimited: route([{ entries: [user] }], { policies: undefined }),
      two: route([
        { entries: [user] },
        { entries: [user, { key: "path", value: "request.path" }] },
      ]),
      cost: route([
        {
          entries: [user],
          cost: 'int(request.headers["x-cost"])',
          limitOverride: '{"unit": "hour", "requestsPerUnit": 10}',
        },
      ]),
      verdict: route([{ entries: [{ key: "verdict", value: 'request.headers["x-verdict"]' }] }]),
      closed: route([{ entries: [user] }], { host: "127.0.0.1:1" }),
      open: route([{ entries: [user] }], { host: "127.0.0.1:1", failureMode: "failOpen" }),
      "v1/chat/completions": tokens({}),
      "weighted/chat/completions": tokens({ cost: "llm.inputTokens + llm.outputTokens * 10" }),
    },
    echo,
  );
});

function call(path: string, headers: Record<string, string>) {
  return send(`${gateway.url}/${path}`, "GET", headers);
}

/** Returns the calls to the service for a user, by what they count. */
function counts(user: string): readonly (readonly string[])[] {
  return services.seen().flatMap(({ call, message }) => {
    if (call !== "ShouldRateLimit") return [];
    const own = message.descriptors.filter(({ entries }: { entries: { value: string }[] }) =>
      entries.some(({ value }) => value === user),
    );
    return own.length === 0
      ? []
      : [own.map(({ hits_addend }: { hits_addend?: string }) => hits_addend ?? "-")];
  });
}

describe("remoteRateLimit", () => {
  it("allows as many requests as the service and returns the remaining ones", async () => {
    const responses: Response[] = [];
    for (let i = 0; i < 4; i += 1) responses.push(await call("user", { "x-user": "exact" }));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const of = (name: string) => responses.map(({ headers }) => headers[name]);
    expect(of("x-ratelimit-remaining")).toEqual(["2", "1", "0", "0"]);
    expect(of("x-ratelimit-limit")).toEqual(["3", "3", "3", "3"]);
    expect(of("retry-after")).toEqual([undefined, undefined, undefined, "30"]);
    expect(responses[3]?.body).toBe("rate limit exceeded");
    expect(services.seen()[0]).toMatchObject({ message: { domain: "shop" } });
    expect(services.seen()[0]?.timeout).toBeLessThanOrEqual(60);
  });

  it("waits for two seconds at most unless the configuration allows more", async () => {
    await call("unlimited", { "x-user": "unlimited" });
    expect(services.seen().at(-1)?.timeout).toBeLessThanOrEqual(2);
  });

  it("asks about all descriptors in one call, without those that have no value", async () => {
    await call("two", { "x-user": "both" });
    expect(counts("both")).toEqual([["1", "1"]]);
    const before = services.seen().length;
    expect((await call("user", {})).status).toBe(200);
    expect(services.seen()).toHaveLength(before);
  });

  it("counts the value of an expression, against a configured limit", async () => {
    const cost = (amount: string) => call("cost", { "x-user": "weighed", "x-cost": amount });
    expect((await cost("9")).status).toBe(200);
    const last = await cost("2");
    expect(last.status).toBe(429);
    expect(last.headers["x-ratelimit-limit"]).toBe("10");
  });

  it("applies the service's headers and bodies", async () => {
    const verdict = (value: object) => call("verdict", { "x-verdict": JSON.stringify(value) });
    const passed = await verdict({
      overall_code: "OK",
      request_headers_to_add: [
        { key: "x-left", value: "1" },
        { key: "host", value: "no" },
      ],
      response_headers_to_add: [{ key: "x-seen", value: "yes" }],
    });
    expect(JSON.parse(passed.body).headers["x-left"]).toBe("1");
    expect(passed.headers["x-seen"]).toBe("yes");
    const refused = await verdict({
      overall_code: "OVER_LIMIT",
      raw_body: Buffer.from("slow down").toString("base64"),
    });
    expect([refused.status, refused.body]).toEqual([429, "slow down"]);
    // Neither yes nor no is a missing verdict.
    expect((await verdict({})).status).toBe(500);
    expect((await verdict({ abort: "INTERNAL" })).status).toBe(500);
  });

  it("refuses requests when the service is down, unless they may pass", async () => {
    const closed = await call("closed", { "x-user": "a" });
    expect([closed.status, closed.body]).toEqual([500, "rate limit failed"]);
    expect((await call("open", { "x-user": "a" })).status).toBe(200);
  });

  it("checks whether tokens are left, and counts those of the call when it has ended", async () => {
    const ask = (path: string, user: string) =>
      send(
        `${gateway.url}/${path}`,
        "POST",
        { "x-user": user, "content-type": "application/json" },
        JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
      );
    expect((await ask("v1/chat/completions", "tok")).status).toBe(200);
    await expect.poll(() => counts("tok")).toEqual([["0"], ["12"]]);
    expect((await ask("v1/chat/completions", "tok")).status).toBe(429);
    await ask("weighted/chat/completions", "dear");
    await expect.poll(() => counts("dear")).toEqual([["0"], ["57"]]);
  });
});

it("token limits on a listener apply only to its model calls", async () => {
  const { host } = new URL(services.url);
  const entries = [{ key: "user", value: 'request.headers["x-user"]' }];
  const remote = (name: string, types: readonly string[]) => ({
    hostname: `${name}.test`,
    policies: {
      remoteRateLimit: {
        host,
        policies: patient,
        domain: "shop",
        descriptors: types.map((type) => ({ type, entries })),
      },
    },
    routes,
  });
  const routes = [
    {
      matches: [{ path: { pathPrefix: "/v1" } }],
      backends: [{ ai: { name: "m", provider: { openAI: {} }, hostOverride: model } }],
    },
    {
      matches: [{ path: { pathPrefix: "/shop" } }],
      backends: [{ host: new URL((await startEcho()).url).host }],
    },
  ];
  const limit = { maxTokens: 12, tokensPerFill: 12, fillInterval: "1h", type: "tokens" };
  const limited = await startGateway({
    listeners: [
      remote("tokens", ["tokens"]),
      remote("both", ["requests", "tokens"]),
      { hostname: "local.test", policies: { localRateLimit: [limit] }, routes },
    ],
  });
  const ask = async (name: string, path: string) => {
    const headers = { host: `${name}.test`, "x-user": `of-${name}` };
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
    return (await send(`${limited.url}/${path}`, "POST", headers, body)).status;
  };
  expect([await ask("tokens", "shop"), await ask("tokens", "nowhere")]).toEqual([200, 404]);
  expect(counts("of-tokens")).toEqual([]);
  expect(await ask("tokens", "v1/chat/completions")).toBe(200);
  await expect.poll(() => counts("of-tokens")).toEqual([["0"], ["12"]]);
  expect(await ask("tokens", "v1/chat/completions")).toBe(429);
  expect(await ask("tokens", "shop")).toBe(200);

  expect(await ask("both", "shop")).toBe(200);
  expect(counts("of-both")).toEqual([["1"]]);
  expect(await ask("both", "v1/chat/completions")).toBe(200);
  await expect.poll(() => counts("of-both")).toEqual([["1"], ["1"], ["0"], ["12"]]);

  const local = ["v1/chat/completions", "v1/chat/completions", "shop"];
  const statuses: number[] = [];
  for (const path of local) statuses.push(await ask("local", path));
  expect(statuses).toEqual([200, 429, 200]);
});

it("a policy of several routes limits one without models, although another form counts tokens", async () => {
  const { port } = new URL(services.url);
  const echo = new URL((await startEcho()).url);
  const entries = [{ name: "user", expression: 'request.headers["x-user"]' }];
  const asked = { group: "gwc.dev", kind: "GatewayBackend", name: "limits" };
  const form = (unit: "Tokens" | "Requests", local: object) => ({
    local: [{ ...local, unit: "Hours" }],
    global: { backendRef: asked, domain: "shop", descriptors: [{ unit, entries }] },
  });
  const condition = 'request.headers["x-kind"] == "model"';
  const gatewayApi = { apiVersion: "gateway.networking.k8s.io/v1" };
  const own = { apiVersion: "gwc.dev/v1alpha1", kind: "GatewayBackend" };
  const server = (name: string, of: string) => ({
    ...own,
    metadata: { name },
    spec: { static: { host: "127.0.0.1", port: Number(of) } },
  });
  const route = (name: string, path: string) => ({
    ...gatewayApi,
    kind: "HTTPRoute",
    metadata: { name },
    spec: {
      parentRefs: [{ name: "web" }],
      rules: [
        {
          matches: [{ path: { value: path } }],
          backendRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name }],
        },
      ],
    },
  });
  const listeners = [{ name: "web", port: await freePort(), protocol: "HTTP" }];
  const manifests = [
    {
      ...gatewayApi,
      kind: "Gateway",
      metadata: { name: "web" },
      spec: { gatewayClassName: "gwc", listeners },
    },
    route("shop", "/shop"),
    route("models", "/v1"),
    server("shop", echo.port),
    server("limits", port),
    {
      ...own,
      metadata: { name: "models" },
      spec: { ai: { provider: { openai: {}, host: "127.0.0.1", port: 1 } } },
    },
    {
      ...own,
      kind: "GatewayPolicy",
      metadata: { name: "limits" },
      spec: {
        targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "web" }],
        traffic: {
          rateLimit: {
            conditional: [
              { condition, policy: form("Tokens", { tokens: 1 }) },
              { policy: form("Requests", { requests: 5 }) },
            ],
          },
        },
      },
    },
  ];
  const forms = await startGateway({
    config: manifests.map((each) => JSON.stringify(each)).join("\n---\n"),
  });
  const statuses = async (user: string, kind: string, count: number) => {
    const all: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const headers = { "x-user": user, "x-kind": kind };
      all.push((await send(`${forms.url}/shop`, "GET", headers)).status);
    }
    return all;
  };
  expect(await statuses("form-model", "model", 6)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(counts("form-model")).toEqual([]);
  // The service refuses the fourth request of a user, and the gateway the sixth of all.
  expect(await statuses("form-a", "other", 4)).toEqual([200, 200, 200, 429]);
  expect(await statuses("form-b", "other", 2)).toEqual([200, 429]);
  expect(counts("form-b")).toEqual([["1"]]);
});
