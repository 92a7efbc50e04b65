import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { complete, completion, fail, startStream, streamed } from "./llm-upstream.ts";

const json = { "content-type": "application/json" };

/** API keys by the names of their holders; two of them are of one team. */
const keys = { ann: "red", bob: "red", cyd: "blue" } as const;

interface Started {
  readonly gateway: Gateway;
  readonly upstream: Scripted;
}

type Responder = Parameters<typeof startScripted>[0];

/** A gateway with a cache before a provider that completes everything. */
async function start(
  ai: object = { cache: { ttl: "1h" } },
  { respond = completes, policies = {}, file = {} }: Partial<StartedWith> = {},
): Promise<Started> {
  const upstream = await startScripted(respond);
  const gateway = await startGateway({
    env: { KEY: "provider-key", ann: "ann", bob: "bob", cyd: "cyd" },
    file,
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
  return { gateway, upstream };
}

interface StartedWith {
  readonly respond: Responder;
  readonly policies: object;
  readonly file: object;
}

const completes: Responder = (response, _, request) => complete(response, request);

interface Asked {
  readonly user?: keyof typeof keys;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly text?: string;
}

const hello = { model: "m", messages: [{ role: "user", content: "Hello" }] };

function ask(
  { gateway }: Started,
  body: object = hello,
  { user = "ann", headers = {}, path = "/v1/chat/completions", text }: Asked = {},
): Promise<Response> {
  const own = { ...json, authorization: `Bearer ${user}`, ...headers };
  return send(`${gateway.url}${path}`, "POST", own, text ?? JSON.stringify(body));
}

const cacheOf = ({ headers }: Response): unknown => headers["x-cache"];

describe("a response to an equal request", () => {
  it("comes from the cache", async () => {
    const started = await start();
    const first = await ask(started);
    const second = await ask(started);
    expect([first, second].map(cacheOf)).toEqual(["miss", "hit"]);
    expect(second.body).toBe(first.body);
    expect(second.headers["content-type"]).toBe("application/json");
    expect(second.headers["x-llm-provider"]).toBe("openai");
    expect(second.headers.age).toBe("0");
    expect(started.upstream.received).toHaveLength(1);
  });

  it("is the same whatever the whitespace and the order of members", async () => {
    const started = await start();
    await ask(started);
    const text = `{ "messages": [ {"role":"user", "content": "H\\u0065llo"} ],\n "model": "m" }`;
    expect(cacheOf(await ask(started, {}, { text }))).toBe("hit");
  });

  it("is the same whatever the headers that identify one request", async () => {
    const started = await start();
    const asked = (id: string) => ask(started, hello, { headers: { "x-request-id": id } });
    await asked("one");
    expect(cacheOf(await asked("other"))).toBe("hit");
  });

  it("is its own among requests that differ in one character", async () => {
    const respond: Responder = (response, _, { body }) => {
      const [number = ""] = /#\d\d/.exec(body.toString()) ?? [];
      response.writeHead(200, json);
      response.end(completion.replace("Hi.", number));
    };
    const started = await start(undefined, { respond });
    const asked = (n: number) => {
      const content = `${"word ".repeat(400)}#${n}${" word".repeat(400)}`;
      return ask(started, { ...hello, messages: [{ role: "user", content }] });
    };
    for (const expected of ["miss", "hit", "hit"]) {
      for (let n = 10; n < 50; n++) {
        const response = await asked(n);
        expect([cacheOf(response), response.body.includes(`#${n}`)]).toEqual([expected, true]);
      }
    }
  });

  it("is streamed again if it was streamed", async () => {
    const started = await start();
    const body = { ...hello, stream: true, stream_options: { include_usage: true } };
    const first = await ask(started, body);
    const second = await ask(started, body);
    expect([first, second].map(cacheOf)).toEqual(["miss", "hit"]);
    expect(second.body).toBe(streamed.join(""));
    expect(first.body).toBe(second.body);
    expect(second.headers["content-type"]).toBe("text/event-stream");
    expect(second.headers["content-length"]).toBeUndefined();
  });

  it("of another format than the provider's is cached as translated", async () => {
    const started = await start();
    const body = { ...hello, max_tokens: 10 };
    for (const path of ["/v1/messages", "/v1/responses"]) {
      const asked = path === "/v1/messages" ? body : { model: "m", input: "Hello", store: false };
      const first = await ask(started, asked, { path });
      const second = await ask(started, asked, { path });
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(cacheOf(second)).toBe("hit");
      expect(second.body).toBe(first.body);
    }
  });

  it("may be embeddings", async () => {
    const respond: Responder = (response) => {
      response.writeHead(200, json);
      const data = [{ object: "embedding", index: 0, embedding: [1, 2] }];
      const usage = { prompt_tokens: 1, total_tokens: 1 };
      response.end(JSON.stringify({ object: "list", data, model: "e", usage }));
    };
    const started = await start(undefined, { respond });
    const body = { model: "e", input: "Hello" };
    const path = "/v1/embeddings";
    const results = [await ask(started, body, { path }), await ask(started, body, { path })];
    expect(results.map(cacheOf)).toEqual(["miss", "hit"]);
  });

  it("is asked for once by requests at the same time", async () => {
    const ends: (() => void)[] = [];
    const respond: Responder = (response, _, request) => {
      ends.push(() => complete(response, request));
    };
    const started = await start(undefined, { respond });
    const all = Array.from({ length: 20 }, () => ask(started));
    await eventually(() => ends[0] ?? null, "the request");
    const others = Array.from({ length: 20 }, () => ask(started));
    ends[0]?.();
    const responses = await Promise.all([...all, ...others]);
    expect(responses.map(({ body }) => body)).toEqual(responses.map(() => completion));
    expect(started.upstream.received).toHaveLength(1);
    expect(responses.map(cacheOf).filter((each) => each === "hit")).toHaveLength(39);
  });

  it("of a request that failed is asked for by those who waited", async () => {
    const waiting: ((isGood: boolean) => void)[] = [];
    const respond: Responder = (response, _, request) => {
      waiting.push((isGood) => (isGood ? complete(response, request) : fail(response, 400)));
    };
    const started = await start(undefined, { respond });
    const all = [ask(started), ask(started), ask(started)];
    await eventually(() => waiting[0] ?? null, "the request");
    waiting[0]?.(false);
    await eventually(() => waiting[2] ?? null, "the requests of the others");
    for (const respondTo of waiting.slice(1)) respondTo(true);
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 400]);
  });
});

describe("a response is not cached", () => {
  it("if the client forbids it", async () => {
    const started = await start();
    const headers = { "cache-control": "no-store" };
    expect(cacheOf(await ask(started, hello, { headers }))).toBeUndefined();
    expect(cacheOf(await ask(started))).toBe("miss");
    expect(cacheOf(await ask(started, hello, { headers }))).toBeUndefined();
    expect(started.upstream.received).toHaveLength(3);
  });

  it("for a client that asks for a new one, which replaces it", async () => {
    const started = await start();
    await ask(started);
    for (const directive of ["no-cache", "max-age=0"]) {
      const headers = { "cache-control": directive };
      expect(cacheOf(await ask(started, hello, { headers }))).toBe("miss");
    }
    expect(cacheOf(await ask(started, hello, { headers: { "cache-control": "max-age=60" } }))).toBe(
      "hit",
    );
  });

  it.each([
    ["an error", (response) => fail(response, 429), 429],
    [
      "a stream that is aborted",
      (response) => {
        startStream(response);
        response.write(streamed.slice(0, 2).join(""), () => response.destroy());
      },
      200,
    ],
    [
      "a completion that the provider filtered",
      (response) => {
        response.writeHead(200, json);
        response.end(completion.replace('"stop"', '"content_filter"'));
      },
      200,
    ],
  ] satisfies [string, Responder, number][])("if it is %s", async (name, respond, status) => {
    const started = await start(undefined, { respond });
    const body = name.includes("stream") ? { ...hello, stream: true } : hello;
    for (let i = 0; i < 2; i++) {
      const response = await ask(started, body);
      expect(response.status).toBe(status);
      expect(cacheOf(response)).toBe("miss");
    }
    expect(started.upstream.received).toHaveLength(2);
  });

  it("if the client left before its end", async () => {
    let sent = 0;
    const respond: Responder = (response, _, request) => {
      sent += 1;
      if (sent > 1) complete(response, request);
      else {
        startStream(response);
        response.write(streamed.slice(0, 2).join(""));
      }
    };
    const started = await start(undefined, { respond });
    const leaving = new AbortController();
    const left = await fetch(`${started.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...json, authorization: "Bearer ann" },
      body: JSON.stringify({ ...hello, stream: true }),
      signal: leaving.signal,
    });
    await left.body?.getReader().read();
    leaving.abort();
    await started.gateway.seen(/reason=ClientClosed/);
    const response = await ask(started, { ...hello, stream: true });
    expect(cacheOf(response)).toBe("miss");
    expect(response.body).toContain("[DONE]");
  });

  it.each([
    ["is stored by the provider", { store: true }],
    ["continues in the background", { background: true }],
    ["belongs to a conversation", { conversation: "c1" }],
  ])("if its request %s", async (_, fields) => {
    const respond: Responder = (response) => {
      response.writeHead(200, json);
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const value = { id: "r1", object: "response", status: "completed", model: "m", output: [] };
      response.end(JSON.stringify({ ...value, usage }));
    };
    // Conversations are refused where callers are known.
    const policies = { apiKey: undefined };
    const started = await start({ cache: { ttl: "1h", key: '"all"' } }, { respond, policies });
    const path = "/v1/responses";
    const body = { model: "m", input: "Hello" };
    const results = [
      await ask(started, { ...body, ...fields }, { path }),
      await ask(started, { ...body, ...fields }, { path }),
      await ask(started, body, { path }),
      await ask(started, body, { path }),
    ];
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(results.map(cacheOf)).toEqual([undefined, undefined, "miss", "hit"]);
  });

  it("if readers may understand its request differently", async () => {
    const started = await start({ cache: { ttl: "1h", key: '"all"' } });
    await ask(started);
    const text = `{"model":"m","messages":[{"role":"user","content":"Bye","content":"Hello"}]}`;
    expect(cacheOf(await ask(started, {}, { text }))).toBeUndefined();
    expect(cacheOf(await ask(started, {}, { text }))).toBeUndefined();
  });

  it("if a guard rejects it", async () => {
    const started = await start({
      cache: { ttl: "1h" },
      promptGuard: { response: [{ regex: { action: "reject", rules: [{ pattern: "Hi" }] } }] },
    });
    for (let i = 0; i < 2; i++) expect((await ask(started)).status).toBe(403);
    expect(started.upstream.received).toHaveLength(2);
  });

  it("after its time, which a configured clock of a second shows", async () => {
    const started = await start({ cache: { ttl: "1s" } });
    await ask(started);
    await eventually(
      async () => (cacheOf(await ask(started)) === "miss" ? true : null),
      "the end of the response's time",
    );
  });

  it("for callers without an identity", async () => {
    const upstream = await startScripted(completes);
    const gateway = await startGateway({
      env: { ann: "ann" },
      listeners: [
        {
          routes: [
            {
              name: "chat",
              policies: {
                apiKey: { mode: "optional", keys: [{ key: "${ann}" }] },
                ai: { cache: { ttl: "1h" } },
              },
              backends: [{ ai: { provider: { openAI: {} }, hostOverride: upstream.host } }],
            },
          ],
        },
      ],
    });
    const url = `${gateway.url}/v1/chat/completions`;
    for (let i = 0; i < 2; i++) {
      const response = await send(url, "POST", json, JSON.stringify(hello));
      expect(response.status).toBe(200);
      expect(cacheOf(response)).toBeUndefined();
    }
  });
});

describe("guards", () => {
  it("act on requests whose response is cached", async () => {
    const started = await start({
      cache: { ttl: "1h", key: '"all"' },
      promptGuard: { request: [{ regex: { action: "mask", rules: [{ builtin: "email" }] } }] },
    });
    const asked = (address: string) => ({
      model: "m",
      messages: [{ role: "user", content: `Write to ${address}` }],
    });
    await ask(started, asked("ann@example.com"));
    const second = await ask(started, asked("bob@example.com"), { user: "bob" });
    // The provider would have got the same masked prompt.
    expect(cacheOf(second)).toBe("hit");
    expect(started.upstream.received.at(-1)?.body.toString()).not.toContain("@");
  });

  it("have masked the response that is cached", async () => {
    const started = await start({
      cache: { ttl: "1h" },
      promptGuard: { response: [{ regex: { action: "mask", rules: [{ pattern: "Hi" }] } }] },
    });
    const first = await ask(started);
    const second = await ask(started);
    expect(cacheOf(second)).toBe("hit");
    expect(second.body).toBe(first.body);
    expect(second.body).not.toContain("Hi.");
  });
});

describe("callers", () => {
  it("have their own responses", async () => {
    const started = await start();
    const users = ["ann", "bob", "cyd", "ann", "bob"] as const;
    const results: unknown[] = [];
    for (const user of users) results.push(cacheOf(await ask(started, hello, { user })));
    expect(results).toEqual(["miss", "miss", "miss", "hit", "hit"]);
  });

  it("share responses with the same value of key", async () => {
    const started = await start({ cache: { ttl: "1h", key: "apiKey.team" } });
    const users = ["ann", "bob", "cyd"] as const;
    const results: unknown[] = [];
    for (const user of users) results.push(cacheOf(await ask(started, hello, { user })));
    expect(results).toEqual(["miss", "hit", "miss"]);
  });

  it("for whom key fails get nothing from the cache", async () => {
    const started = await start({ cache: { ttl: "1h", key: "apiKey.nobody" } });
    for (let i = 0; i < 2; i++) expect(cacheOf(await ask(started))).toBeUndefined();
  });
});

it("the responses that were not used for the longest time make room", async () => {
  const respond: Responder = (response) => {
    response.writeHead(200, json);
    response.end(completion.replace("Hi.", "x".repeat(100_000)));
  };
  const started = await start({ cache: { ttl: "1h", maxBytes: 1_048_576 } }, { respond });
  const asked = (n: number) => ({ ...hello, messages: [{ role: "user", content: `${n}` }] });
  for (let n = 0; n < 10; n++) await ask(started, asked(n));
  expect(cacheOf(await ask(started, asked(0)))).toBe("hit");
  await ask(started, asked(10));
  expect(cacheOf(await ask(started, asked(0)))).toBe("hit");
  expect(cacheOf(await ask(started, asked(1)))).toBe("miss");
});

it("a response that would take most of the cache is not kept", async () => {
  const respond: Responder = (response) => {
    response.writeHead(200, json);
    response.end(completion.replace("Hi.", "x".repeat(200_000)));
  };
  const started = await start({ cache: { ttl: "1h", maxBytes: 1_048_576 } }, { respond });
  for (let i = 0; i < 2; i++) expect(cacheOf(await ask(started))).toBe("miss");
});

it("providers that share the requests of a group share their responses", async () => {
  const upstream = await startScripted(completes);
  const provider = (name: string) => ({
    name,
    provider: { openAI: {} },
    hostOverride: upstream.host,
  });
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            name: "chat",
            policies: { ai: { cache: { ttl: "1h", key: '"all"' } } },
            backends: [{ ai: { groups: [{ providers: ["a", "b", "c"].map(provider) }] } }],
          },
        ],
      },
    ],
  });
  const url = `${gateway.url}/v1/chat/completions`;
  const body = JSON.stringify(hello);
  for (let i = 0; i < 10; i++) await send(url, "POST", json, body);
  expect(upstream.received).toHaveLength(1);
});

it("hits are logged and counted with the costs that they save", async () => {
  const catalog = { providers: { openai: { models: { "gpt-real": { rates: { input: 1e6 } } } } } };
  const started = await start(undefined, {
    file: { config: { modelCatalog: [{ inline: catalog }] } },
  });
  await ask(started);
  await ask(started);
  const line = await started.gateway.seen(/^.*llm\.cache=hit.*$/m);
  expect(String(line)).toContain("llm.cost.saved=20");
  expect(String(line)).toContain("gen_ai.cost=0");
  const stats = `http://127.0.0.1:${await started.gateway.statsPort()}/metrics`;
  const { body } = await send(stats, "GET");
  expect(body).toContain('gwc_llm_cache_requests_total{route="chat",result="hit"} 1');
  expect(body).toContain('gwc_llm_cache_requests_total{route="chat",result="miss"} 1');
  expect(body).toContain('gwc_llm_cache_saved_usd_total{route="chat"} 20');
});

it("a hit never crosses a scope: callers, headers, models, tools and parameters", async () => {
  // The provider repeats what it was asked, so a wrong hit shows another request.
  const respond: Responder = (response, _, { body, headers }: Received) => {
    const seen = JSON.stringify([
      JSON.parse(body.toString()),
      headers["anthropic-beta"] ?? null,
      headers["x-tenant"] ?? null,
      headers["x-user"],
    ]);
    response.writeHead(200, json);
    response.end(completion.replace('"Hi."', JSON.stringify(seen)));
  };
  const policies = { transformations: { request: { set: { "x-user": "apiKey.user" } } } };
  const started = await start(undefined, { respond, policies });
  const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });
  const request = fc.record(
    {
      user: fc.constantFrom(...(["ann", "bob", "cyd"] as const)),
      beta: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      tenant: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
      body: fc.record(
        {
          model: fc.constantFrom("m", "n"),
          messages: fc.array(
            fc.record({
              role: fc.constantFrom("user", "system"),
              content: fc.constantFrom("a", "A", "a "),
            }),
            { minLength: 1, maxLength: 2 },
          ),
          tools: fc.array(fc.constantFrom("f", "g").map(tool), { maxLength: 2 }),
          temperature: fc.constantFrom(0, 1, 0.5),
          seed: fc.constantFrom(1, 2, null),
          response_format: fc.constantFrom({ type: "text" }, { type: "json_object" }),
        },
        { requiredKeys: ["model", "messages"] },
      ),
    },
    { requiredKeys: ["user", "body"] },
  );
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(request, async ({ user, beta, tenant, body }) => {
      const headers = {
        ...(beta !== undefined && { "anthropic-beta": beta }),
        ...(tenant !== undefined && { "x-tenant": tenant }),
      };
      const response = await ask(started, body, { user, headers });
      if (cacheOf(response) === "hit") hits += 1;
      const { content } = JSON.parse(response.body).choices[0].message;
      expect(JSON.parse(content)).toEqual([body, beta ?? null, tenant ?? null, user]);
    }),
    { numRuns: 2000 },
  );
  expect(hits).toBeGreaterThan(0);
}, 120_000);
