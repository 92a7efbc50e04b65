import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "iovalkey";
import { afterEach, expect, it } from "vitest";
import { startEmbeddingServer } from "../harness/embedding-server.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RedisServer } from "../harness/redis.ts";
import { startRedisCluster } from "../harness/redis-cluster.ts";
import { startSentinel } from "../harness/redis-sentinel.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { startSlowWay } from "../harness/slow-way.ts";
import { storeResponds } from "../harness/store-responds.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { modelsRoute } from "../kubernetes/models-route.ts";
import { complete, completion } from "./llm-upstream.ts";

const json = { "content-type": "application/json" };

const connections: Redis[] = [];

afterEach(() => {
  for (const each of connections.splice(0)) each.disconnect();
});

function connect(url: string): Redis {
  const connection = new Redis(url);
  connections.push(connection);
  return connection;
}

interface Options {
  readonly redis?: object;
  readonly cache?: object;
  /** Statement of a guard of responses; absent without one. */
  readonly pattern?: string;
}

function start(url: string, upstream: Scripted, options: Options = {}): Promise<Gateway> {
  const { redis = {}, cache = {}, pattern } = options;
  const rules = pattern === undefined ? undefined : [{ pattern }];
  return startGateway({
    env: { REDIS_URL: url },
    file: {
      name: "shop",
      config: {
        store: { redis: { url: "${REDIS_URL}", ...redis } },
      },
    },
    listeners: [
      {
        routes: [
          {
            name: "chat",
            policies: {
              ai: {
                cache: { ttl: "1h", key: '"all"', shared: true, ...cache },
                ...(rules && { promptGuard: { response: [{ regex: { action: "mask", rules } }] } }),
              },
            },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: upstream.host } }],
          },
        ],
      },
    ],
  });
}

const startProvider = (): Promise<Scripted> =>
  startScripted((response, _, request) => complete(response, request));

function ask(
  { url }: Pick<Gateway, "url">,
  content = "Hello",
  more: object = {},
): Promise<Response> {
  const body = { model: "m", messages: [{ role: "user", content }], ...more };
  return send(`${url}/v1/chat/completions`, "POST", json, JSON.stringify(body));
}

const cacheOf = ({ headers }: Response): unknown => headers["x-cache"];

/** Returns the responses of two replicas to equal requests, the second of which comes from the store. */
function shared([one, other]: readonly [Gateway, Gateway], more: object) {
  let asked = 0;
  return eventually(async () => {
    // The first replica writes to the store after it has responded: an early request of the other one counts for nothing.
    asked += 1;
    const content = `Hello ${asked}`;
    const [first, second] = [await ask(one, content, more), await ask(other, content, more)];
    return cacheOf(second) === "hit" ? { first, second } : null;
  }, "a response of another replica");
}

/** Waits until a response is in the store: a gateway writes it after it has responded. */
async function stored(url: string, what = "*cache*"): Promise<void> {
  const store = connect(url);
  await eventually(async () => (await store.keys(what)).length > 0 || null, "a stored response");
}

/** Waits until a gateway has a response in its cache or in the store. */
function hit(gateway: Gateway, content?: string, more?: object): Promise<Response> {
  return eventually(async () => {
    const response = await ask(gateway, content, more);
    return cacheOf(response) === "hit" ? response : null;
  }, "the response of another replica");
}

it.each([
  ["Redis", async () => ({ url: (await RedisServer.start()).url })],
  ["Redis Cluster", async () => ({ url: await startRedisCluster(), redis: { cluster: true } })],
  [
    "a database that a Sentinel watches",
    async () => ({ url: (await startSentinel()).url, redis: { sentinel: "shop" } }),
  ],
])("replicas get each other's responses from %s", async (_, open) => {
  const { url, ...options } = await open();
  const upstream = await startProvider();
  const replicas = [
    await start(url, upstream, options),
    await start(url, upstream, options),
  ] as const;
  for (const stream of [false, true]) {
    const { first, second } = await shared(replicas, { stream });
    expect(cacheOf(first)).toBe("miss");
    expect(second.body).toBe(first.body);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(Number(second.headers.age)).toBeLessThan(60);
  }
});

it("responses survive a restart, and end after their time", async () => {
  const redis = await RedisServer.start();
  const upstream = await startProvider();
  const first = await start(redis.url, upstream, { cache: { ttl: "2s" } });
  await ask(first);
  const second = await start(redis.url, upstream, { cache: { ttl: "2s" } });
  await hit(second);
  await eventually(
    async () => ((await connect(redis.url).keys("*cache*")).length === 0 ? true : null),
    "the end of everything that was stored",
  );
  expect(cacheOf(await ask(second))).toBe("miss");
});

it("other guards do not get responses that passed the present ones", async () => {
  const redis = await RedisServer.start();
  const upstream = await startProvider();
  await ask(await start(redis.url, upstream));
  await stored(redis.url);
  const masked = await start(redis.url, upstream, { pattern: "Hi" });
  const response = await ask(masked);
  expect(cacheOf(response)).toBe("miss");
  expect(response.body).not.toContain("Hi.");
});

/** Characters of the last response of the next test. */
const LAST_LENGTH = 110_000;

it("the oldest responses make room in the store", async () => {
  const redis = await RedisServer.start();
  const upstream = await startScripted((response, count) => {
    response.writeHead(200, json);
    // The last one is known by its length.
    response.end(completion.replace("Hi.", "x".repeat(count < 24 ? 100_000 : LAST_LENGTH)));
  });
  const gateway = await start(redis.url, upstream, { cache: { maxBytes: 1_048_576 } });
  for (let n = 0; n < 25; n++) await ask(gateway, String(n));
  const store = connect(redis.url);
  await eventually(async () => {
    const sizes = await store.keys("*!sizes");
    const found = await store.hgetall(sizes[0] ?? "none");
    return Object.entries(found).some(([id, size]) => id !== "" && Number(size) >= LAST_LENGTH)
      ? true
      : null;
  }, "the last response");
  const [sizes = ""] = await store.keys("*!sizes");
  const { "": sum, ...each } = await store.hgetall(sizes);
  expect(Number(sum)).toBeLessThanOrEqual(1_048_576);
  expect(Number(sum)).toBe(Object.values(each).reduce((all, size) => all + Number(size), 0));
  const stored = (await store.keys("*cache*")).filter((key) => !key.includes("!"));
  expect(stored).toHaveLength(Object.keys(each).length);
  const other = await start(redis.url, upstream, { cache: { maxBytes: 1_048_576 } });
  expect(cacheOf(await ask(other, "24"))).toBe("hit");
  expect(cacheOf(await ask(other, "0"))).toBe("miss");
});

it.each([
  ["away", async (redis: RedisServer) => void (await redis.kill())],
  ["flushed", async (redis: RedisServer) => void (await connect(redis.url).flushall())],
  [
    "full",
    async (redis: RedisServer) => {
      await connect(redis.url).config("SET", "maxmemory", "1");
    },
  ],
])("while the store is %s, each replica has its own responses", async (_, harm) => {
  const redis = await RedisServer.start();
  const upstream = await startProvider();
  const replicas = [await start(redis.url, upstream), await start(redis.url, upstream)] as const;
  await ask(replicas[0], "before");
  await hit(replicas[1], "before");
  await harm(redis);
  for (const replica of replicas) {
    expect((await ask(replica, "after")).status).toBe(200);
    expect(cacheOf(await ask(replica, "after"))).toBe("hit");
    expect(cacheOf(await ask(replica, "before"))).toBe("hit");
  }
});

it("a slow store is asked only for requests that this replica has no response to", async () => {
  const redis = await RedisServer.start();
  const way = await startSlowWay(redis.port, 200);
  const upstream = await startProvider();
  const slow = await start(`redis://127.0.0.1:${way.port}`, upstream);
  await storeResponds(slow);
  await ask(await start(redis.url, upstream));
  await stored(redis.url);
  await hit(slow);
  way.cut();
  expect(cacheOf(await ask(slow))).toBe("hit");
  expect(upstream.received).toHaveLength(1);
});

it("manifests: pods share responses, also those to similar requests", async () => {
  const redis = await RedisServer.start();
  const upstream = await startProvider();
  const vectors = await startEmbeddingServer();
  const secrets = { redis: { url: redis.url }, vectors: { Authorization: "embedding-key" } };
  const replicas: Gateway[] = [];
  for (let i = 0; i < 2; i++) {
    const folder = temporaryFolder();
    for (const [name, entries] of Object.entries(secrets))
      for (const [key, value] of Object.entries(entries)) {
        mkdirSync(join(folder, "secrets", name), { recursive: true });
        writeFileSync(join(folder, "secrets", name, key), value);
      }
    const env = { GWC_SECRETS_DIR: join(folder, "secrets") };
    const config = manifests(await freePort(), upstream.host, vectors.host);
    replicas.push(await startGateway({ folder, env, config }));
  }
  const [one, two] = replicas;
  if (one === undefined || two === undefined) throw new Error("no replicas");
  expect(cacheOf(await ask(one, "What is the capital of France?"))).toBe("miss");
  await stored(redis.url, "*!vectors");
  const found = await hit(two, "the capital of France is what");
  expect(found.headers["x-cache-score"]).toBe("1.0000");
  expect(upstream.received).toHaveLength(1);
});

function manifests(port: number, provider: string, vectors: string): string {
  const [host, serverPort] = provider.split(":");
  const [vectorHost, vectorPort] = vectors.split(":");
  return `${modelsRoute(port)}apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gwc}
spec:
  controllerName: gwc.dev/gateway
  parametersRef: {group: gwc.dev, kind: GatewayParameters, name: shared, namespace: default}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: shared, namespace: default}
spec: {store: {redis: {secretRef: {name: redis}}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: models}
spec:
  ai: {provider: {openai: {}, host: ${host}, port: ${serverPort}}}
  policies:
    ai:
      cache:
        ttl: 1h
        key: '"all"'
        shared: true
        semantic: {model: words, backendRef: {group: gwc.dev, kind: GatewayBackend, name: vectors}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: vectors}
spec:
  static: {host: ${vectorHost}, port: ${vectorPort}}
  policies: {auth: {secretRef: {name: vectors}}}
---
apiVersion: v1
kind: Secret
metadata: {name: redis}
stringData: {url: unused}
---
apiVersion: v1
kind: Secret
metadata: {name: vectors}
stringData: {Authorization: unused}
`;
}
