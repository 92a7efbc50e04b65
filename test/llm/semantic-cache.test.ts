import fc from "fast-check";
import { Redis } from "iovalkey";
import { describe, expect, it } from "vitest";
import { startEmbeddingServer } from "../harness/embedding-server.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { patient } from "../harness/patient-callout.ts";
import { pause } from "../harness/pause.ts";
import { RedisServer } from "../harness/redis.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { complete, completion, fail } from "./llm-upstream.ts";

const json = { "content-type": "application/json" };

/** API keys by the names of their holders; two of them are of one team. */
const keys = { ann: "red", bob: "red", cyd: "blue" } as const;

type Responder = Parameters<typeof startScripted>[0];

interface Options {
  readonly respond?: Responder;
  readonly semantic?: object;
  readonly cache?: object;
  readonly config?: object;
  readonly ai?: object;
  readonly policies?: object;
  /** URL of Redis; absent without a store. */
  readonly redis?: string;
  readonly embeddings?: Scripted;
  readonly name?: string;
}

interface Started {
  readonly gateway: Gateway;
  readonly upstream: Scripted;
  readonly embeddings: Scripted;
}

const completes: Responder = (response, _, request) => complete(response, request);

async function start(options: Options = {}): Promise<Started> {
  const { respond = completes, redis, name = "shop" } = options;
  const upstream = await startScripted(respond);
  const embeddings = options.embeddings ?? (await startEmbeddingServer());
  const gateway = await replica({ ...options, embeddings }, upstream, name, redis);
  return { gateway, upstream, embeddings };
}

/** Starts a gateway before the same servers. */
function replica(
  { embeddings, semantic = {}, cache = {}, config = {}, ai = {}, policies = {} }: Options,
  upstream: Scripted,
  name: string,
  redis: string | undefined,
): Promise<Gateway> {
  const store = redis === undefined ? {} : { store: { redis: { url: "${REDIS_URL}" } } };
  const file = { config: { ...store, ...config } };
  return startGateway({
    env: {
      ...{
        KEY: "provider-key",
        EMBEDDING_KEY: "embedding-key",
        ann: "ann",
        bob: "bob",
        cyd: "cyd",
      },
      ...(redis !== undefined && { REDIS_URL: redis }),
    },
    file: { ...file, name },
    listeners: [
      {
        routes: [
          {
            name: "chat",
            policies: {
              apiKey: {
                keys: Object.entries(keys).map(([user, team]) => ({
                  key: `\${${user}}`,
                  metadata: { user, team },
                })),
              },
              ai: {
                routes: {
                  "/chat/completions": "Completions",
                  "/messages": "Messages",
                  "/responses": "Responses",
                  "/embeddings": "Embeddings",
                },
                cache: {
                  ttl: "1h",
                  ...(redis !== undefined && { shared: true }),
                  semantic: {
                    model: "words",
                    host: embeddings?.host,
                    threshold: 0.9,
                    apiKey: "${EMBEDDING_KEY}",
                    ...semantic,
                  },
                  ...cache,
                },
                ...ai,
              },
              backendAuth: { key: "${KEY}" },
              ...policies,
            },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: upstream.host } }],
          },
        ],
      },
    ],
  });
}

interface Asked {
  readonly user?: keyof typeof keys;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

function ask(
  { gateway }: Pick<Started, "gateway">,
  body: object,
  { user = "ann", headers = {}, path = "/v1/chat/completions" }: Asked = {},
): Promise<Response> {
  const own = { ...json, authorization: `Bearer ${user}`, ...headers };
  return send(`${gateway.url}${path}`, "POST", own, JSON.stringify(body));
}

const chat = (content: string, more: object = {}) => ({
  model: "m",
  messages: [{ role: "user", content }],
  ...more,
});

const QUESTION = "What is the capital of France?";
const SAME = "the capital of france is what";
const OTHER = "Who wrote the book about whales?";

const cacheOf = ({ headers }: Response): unknown => headers["x-cache"];
const scoreOf = ({ headers }: Response): unknown => headers["x-cache-score"];

describe("a request that means the same", () => {
  it("gets the response of the earlier one, with its score", async () => {
    const started = await start();
    const first = await ask(started, chat(QUESTION));
    const second = await ask(started, chat(SAME));
    expect([first, second].map(cacheOf)).toEqual(["miss", "hit"]);
    expect(second.body).toBe(first.body);
    expect(second.headers.age).toBe("0");
    expect(Number(scoreOf(second))).toBeCloseTo(1);
    expect(started.upstream.received).toHaveLength(1);
    await started.gateway.seen(/llm\.cache=hit.* llm\.cache\.score=1\.0000/);
    const stats = `http://127.0.0.1:${await started.gateway.statsPort()}/metrics`;
    const { body } = await send(stats, "GET");
    expect(body).toContain('gwc_llm_cache_requests_total{route="chat",result="similar"} 1');
  });

  it("is the same in every format of clients, whole and streamed", async () => {
    const started = await start();
    const requests: readonly (readonly [string, (text: string) => object])[] = [
      ["/v1/chat/completions", (text) => chat(text, { stream: true })],
      ["/v1/messages", (text) => chat(text, { max_tokens: 10 })],
      [
        "/v1/messages",
        (text) => ({
          ...chat("", { max_tokens: 10 }),
          messages: [{ role: "user", content: [{ type: "text", text }] }],
        }),
      ],
      ["/v1/responses", (input) => ({ model: "m", input, store: false })],
      [
        "/v1/responses",
        (text) => ({
          model: "m",
          store: false,
          input: [{ role: "user", content: [{ type: "input_text", text }] }],
        }),
      ],
    ];
    for (const [path, bodyOf] of requests) {
      const first = await ask(started, bodyOf(QUESTION), { path });
      const second = await ask(started, bodyOf(SAME), { path });
      expect([first, second].map(cacheOf), JSON.stringify(bodyOf(SAME))).toEqual(["miss", "hit"]);
      expect(scoreOf(second)).toBe("1.0000");
      expect(second.body).toBe(first.body);
    }
  });

  it("is not found if its text is less similar than the threshold", async () => {
    const started = await start();
    await ask(started, chat(QUESTION));
    expect(cacheOf(await ask(started, chat(OTHER)))).toBe("miss");
  });

  it("is not found if a number in its text differs", async () => {
    const started = await start();
    await ask(started, chat("How much is the fee for 10 people?"));
    expect(cacheOf(await ask(started, chat("How much is the fee for 100 people?")))).toBe("miss");
    expect(cacheOf(await ask(started, chat("for 10 people how much is the fee")))).toBe("hit");
  });

  it.each([
    ["its last message is of a tool", { role: "tool", tool_call_id: "a", content: SAME }],
    [
      "it has two texts",
      {
        role: "user",
        content: [
          { type: "text", text: SAME },
          { type: "text", text: "x" },
        ],
      },
    ],
  ])("is not looked for if %s", async (_, message) => {
    const started = await start();
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [{ role: "assistant", content: "", tool_calls: [call] }, message];
    expect(cacheOf(await ask(started, { model: "m", messages }))).toBe("miss");
    expect(started.embeddings.received).toHaveLength(0);
  });

  it("for embeddings is not looked for", async () => {
    const respond: Responder = (response) => {
      response.writeHead(200, json);
      const data = [{ object: "embedding", index: 0, embedding: [1, 2] }];
      const usage = { prompt_tokens: 1, total_tokens: 1 };
      response.end(JSON.stringify({ object: "list", data, model: "e", usage }));
    };
    const started = await start({ respond });
    const path = "/v1/embeddings";
    await ask(started, { model: "e", input: QUESTION }, { path });
    expect(cacheOf(await ask(started, { model: "e", input: SAME }, { path }))).toBe("miss");
    expect(started.embeddings.received).toHaveLength(0);
  });

  it("is sent to the provider while the server of embeddings is away", async () => {
    let isUp = false;
    const embeddings = await startEmbeddingServer("embedding-key", () => isUp);
    const started = await start({ embeddings });
    for (const text of [QUESTION, SAME]) {
      const response = await ask(started, chat(text));
      expect([response.status, cacheOf(response)]).toEqual([200, "miss"]);
    }
    await started.gateway.seen(/responseCache\.duration=/);
    isUp = true;
    await ask(started, chat(`${OTHER}!`));
    expect(cacheOf(await ask(started, chat(OTHER)))).toBe("hit");
  });

  it("of a client that wants a new response gets one", async () => {
    const started = await start();
    await ask(started, chat(QUESTION));
    const headers = { "cache-control": "no-cache" };
    expect(cacheOf(await ask(started, chat(SAME), { headers }))).toBe("miss");
    const never = { "cache-control": "no-store" };
    expect(cacheOf(await ask(started, chat(SAME), { headers: never }))).toBeUndefined();
  });

  it("of an incomplete response is sent to the provider", async () => {
    const started = await start({ respond: (response) => fail(response, 400) });
    await ask(started, chat(QUESTION));
    expect((await ask(started, chat(SAME))).status).toBe(400);
    expect(started.upstream.received).toHaveLength(2);
  });
});

describe("guards", () => {
  it("have masked the text that the server of embeddings gets", async () => {
    const started = await start({
      ai: { promptGuard: { request: [{ regex: { rules: [{ builtin: "email" }] } }] } },
    });
    await ask(started, chat("Write to ann@example.com about the offer"));
    expect(cacheOf(await ask(started, chat("about the offer write to bob@example.com")))).toBe(
      "hit",
    );
    for (const { body } of started.embeddings.received) expect(body.toString()).not.toContain("@");
  });

  it.each([false, true])(
    "run again on a response that was found by meaning (stream: %s)",
    async (stream) => {
      let isStrict = false;
      const asked: string[] = [];
      const guard = await startScripted((response, _, { body }) => {
        asked.push(body.toString());
        response.writeHead(200, json);
        const reject = { action: { body: "not any more", status_code: 451 } };
        response.end(JSON.stringify(isStrict ? reject : { action: {} }));
      }, "anything");
      const started = await start({
        ai: {
          promptGuard: {
            response: [{ webhook: { target: { host: guard.host, policies: patient } } }],
          },
        },
      });
      await ask(started, chat(QUESTION, { stream }));
      const again = await ask(started, chat(SAME, { stream }));
      expect([again.status, cacheOf(again)]).toEqual([200, "hit"]);
      expect(asked).toHaveLength(2);
      isStrict = true;
      const refused = await ask(started, chat(SAME, { stream }));
      expect(refused.status).toBe(451);
      expect(started.upstream.received).toHaveLength(1);
    },
  );
});

describe("with a store", () => {
  it("a replica finds the response that another one got", async () => {
    const redis = await RedisServer.start();
    const started = await start({ redis: redis.url });
    const { embeddings, upstream } = started;
    const other = { gateway: await replica({ embeddings }, upstream, "shop", redis.url) };
    // A miss is stored, too, so each attempt asks about another city.
    let city = "a";
    const [first, found] = await eventually(async () => {
      city += "b";
      const own = await ask(started, chat(`What is the country of ${city}?`));
      await pause(100);
      const response = await ask(other, chat(`the country of ${city} is what`));
      return cacheOf(response) === "hit" ? [own, response] : null;
    }, "the response on the other replica");
    expect(found.body).toBe(first.body);
    expect(scoreOf(found)).toBe("1.0000");
  });
});

it("embeddings are part of the costs of misses and hits, of usage and of budgets", async () => {
  const redis = (await RedisServer.start()).url;
  // A dollar for a token of a completion, which has 20 of input, and two for the one of a vector.
  const models = { "gpt-real": { rates: { input: 1e6 } }, words: { rates: { input: 2e6 } } };
  const started = await start({
    redis,
    config: { modelCatalog: [{ inline: { providers: { openai: { models } } } }], usage: {} },
    policies: { localRateLimit: [{ budget: 23, unit: "Months" }] },
  });
  expect(cacheOf(await ask(started, chat(QUESTION)))).toBe("miss");
  const miss = await started.gateway.seen(/^.*llm\.cache=miss.*$/m);
  expect(String(miss)).toMatch(/gen_ai\.cost=22\b/);
  expect(cacheOf(await ask(started, chat(SAME)))).toBe("hit");
  const hit = await started.gateway.seen(/^.*llm\.cache=hit.*$/m);
  expect(String(hit)).toMatch(/gen_ai\.cost=2\b/);
  expect(String(hit)).toMatch(/llm\.cost\.saved=20\b/);
  // 24 dollars are spent.
  expect((await ask(started, chat(OTHER))).status).toBe(429);
  const store = new Redis(redis);
  const costs = await eventually(async () => {
    const [key] = await store.keys(`*usage*:${new Date().toISOString().slice(0, 10)}`);
    const rows = key === undefined ? [] : Object.values(await store.hgetall(key));
    const sum = rows.reduce((all, row) => all + Number(row.split(" ")[3]), 0);
    return sum === 24e9 ? rows : null;
  }, "the usage");
  expect(costs).toHaveLength(1);
  store.disconnect();
});

it("keeps the newest of more texts than the limit", async () => {
  const started = await start({ semantic: { maxVectors: 1 } });
  await ask(started, chat(QUESTION));
  await ask(started, chat(OTHER));
  expect(cacheOf(await ask(started, chat(SAME)))).toBe("miss");
});

it("a hit never crosses a scope: callers, headers, models, tools, parameters, messages and replicas", async () => {
  // The provider repeats what it was asked, so a wrong hit shows another request.
  const respond: Responder = (response, _, { body, headers }: Received) => {
    const seen = JSON.stringify([
      JSON.parse(body.toString()),
      headers["anthropic-beta"] ?? null,
      headers["x-tenant"] ?? null,
      headers["x-team"],
    ]);
    response.writeHead(200, json);
    response.end(completion.replace('"Hi."', JSON.stringify(seen)));
  };
  const policies = { transformations: { request: { set: { "x-team": "apiKey.team" } } } };
  const cache = { key: "apiKey.team" };
  const redis = await RedisServer.start();
  const started = await start({ respond, policies, cache, redis: redis.url });
  const { embeddings, upstream } = started;
  const others = { policies, cache, embeddings };
  const replicas = [
    started,
    { gateway: await replica(others, upstream, "shop", redis.url) },
    // Another configuration with the same prefix: its team is another one.
    {
      gateway: await replica(
        {
          ...others,
          policies: { transformations: { request: { set: { "x-team": "apiKey.user" } } } },
        },
        upstream,
        "shop",
        redis.url,
      ),
    },
  ] as const;
  const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });
  const request = fc.record(
    {
      at: fc.nat({ max: 2 }),
      user: fc.constantFrom(...(["ann", "bob", "cyd"] as const)),
      beta: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      tenant: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
      text: fc.constantFrom(QUESTION, SAME, OTHER, `${SAME} 7`, `${QUESTION} 8`),
      before: fc.constantFrom(
        ...[[], [{ role: "system", content: "a" }], [{ role: "system", content: "A" }]],
      ),
      body: fc.record(
        {
          model: fc.constantFrom("m", "n"),
          tools: fc.array(fc.constantFrom("f", "g").map(tool), { maxLength: 1 }),
          temperature: fc.constantFrom(0, 1),
          seed: fc.constantFrom(1, null),
        },
        { requiredKeys: ["model"] },
      ),
    },
    { requiredKeys: ["at", "user", "text", "before", "body"] },
  );
  const meaning = (text: string) => [...(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].sort();
  let similar = 0;
  await fc.assert(
    fc.asyncProperty(request, async ({ at, user, beta, tenant, text, before, body }) => {
      const headers = {
        ...(beta !== undefined && { "anthropic-beta": beta }),
        ...(tenant !== undefined && { "x-tenant": tenant }),
      };
      const messages = [...before, { role: "user", content: text }];
      const asked = { ...body, messages };
      const response = await ask(replicas[at] ?? started, asked, { user, headers });
      expect(response.status).toBe(200);
      if (scoreOf(response) !== undefined) similar += 1;
      const [got, ...rest] = JSON.parse(JSON.parse(response.body).choices[0].message.content);
      expect(rest).toEqual([beta ?? null, tenant ?? null, at === 2 ? user : keys[user]]);
      const last = got.messages.at(-1);
      expect({ ...got, messages: got.messages.slice(0, -1) }).toEqual({
        ...asked,
        messages: before,
      });
      expect(meaning(last.content)).toEqual(meaning(text));
    }),
    { numRuns: 1500 },
  );
  expect(similar).toBeGreaterThan(0);
}, 240_000);
