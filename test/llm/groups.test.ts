import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { type Response, send } from "../harness/send.ts";
import { chunk, complete, fail, startHealthy, startStream, streamed } from "./llm-upstream.ts";

/** Longer than any test. */
const LONG = "10m";
/** A time limit within which a provider responds on a busy machine. */
const PATIENT = "5s";

interface GroupsOptions {
  readonly health?: object;
  readonly policies?: object;
}

/** A gateway whose providers are called p0, p1, ... over all groups. */
function startGroups(
  groups: readonly (readonly Pick<Scripted, "host">[])[],
  { health = { eviction: { duration: LONG } }, policies = {} }: GroupsOptions = {},
): Promise<Gateway> {
  let count = 0;
  const ai = {
    groups: groups.map((group) => ({
      providers: group.map(({ host }) => ({
        name: `p${count++}`,
        provider: { openAI: {} },
        hostOverride: host,
      })),
    })),
  };
  return startGateway({
    listeners: [{ routes: [{ policies, backends: [{ policies: { health }, ai }] }] }],
  });
}

/** No number of failures in a row is too many. */
const NEVER = { eviction: { consecutiveFailures: 1000 } };

/** A provider whose models are called as the status with which it refuses them. */
function startModelStatus(): Promise<Scripted> {
  return startScripted((response, _, { body }) =>
    fail(response, Number(JSON.parse(body.toString()).model)),
  );
}

function ask({ url }: Gateway, request: object = {}): Promise<Response> {
  const body = { model: "m", messages: [{ role: "user", content: "Hello" }], ...request };
  return send(
    `${url}/v1/chat/completions`,
    "POST",
    { "content-type": "application/json" },
    JSON.stringify(body),
  );
}

it("the next provider is called if one is limited, overloaded or broken", async () => {
  const failing = await startModelStatus();
  const gateway = await startGroups([[failing], [await startHealthy()]], { health: NEVER });
  for (const status of [408, 429, 500, 502, 503, 504, 529]) {
    const response = await ask(gateway, { model: String(status) });
    expect(response, String(status)).toMatchObject({ headers: { "x-llm-provider": "p1" } });
  }
  expect(failing.received).toHaveLength(7);
});

it("a request with a client error goes to no other provider", async () => {
  const refusing = await startModelStatus();
  const other = await startHealthy();
  const gateway = await startGroups([[refusing], [other]]);
  for (const status of [400, 401, 403, 404, 413, 422]) {
    const response = await ask(gateway, { model: String(status) });
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body)).toHaveProperty("error.message", `it failed with ${status}`);
  }
  expect(other.received).toHaveLength(0);
});

it("the next provider is called if one is down or disconnects before it responds", async () => {
  const absent = { host: `127.0.0.1:${await freePort()}` };
  const broken = await startScripted((response) => response.socket?.destroy());
  const gateway = await startGroups([[absent], [broken], [await startHealthy()]]);
  expect(await ask(gateway)).toMatchObject({ status: 200, headers: { "x-llm-provider": "p2" } });
});

it.each([
  ["an error event", 'data: {"error":{"message":"overloaded","code":"overloaded"}}\n\n'],
  ["its end", ""],
])("the next provider is asked when %s comes before the first content", async (_, event) => {
  const failing = await startScripted((response) => {
    startStream(response);
    response.end(`${chunk({ role: "assistant", content: "" })}${event}`);
  });
  const gateway = await startGroups([[failing], [await startHealthy()]]);
  const response = await ask(gateway, { stream: true });
  expect(response.headers["x-llm-provider"]).toBe("p1");
  expect(response.body).toContain('"content":" there."');
  expect(response.body.match(/"role":"assistant"/g)).toHaveLength(1);
});

it("a stream that fails after its first content ends with an error", async () => {
  const failing = await startScripted((response) => {
    startStream(response);
    response.end(streamed.slice(0, 2).join(""));
  });
  const other = await startHealthy();
  const gateway = await startGroups([[failing], [other]]);
  const response = await ask(gateway, { stream: true });
  expect(response.body).toContain('"content":"Hi"');
  expect(response.body).toMatch(
    /data: {"error":{"message":"[^"]+","type":"server_error"[^\n]+\n\n$/,
  );
  expect(other.received).toHaveLength(0);
  expect(await ask(gateway)).toMatchObject({ headers: { "x-llm-provider": "p1" } });
  expect(failing.received).toHaveLength(1);
});

it("a failed provider is ejected for a while", async () => {
  const recovering = await startScripted((response, count, request) =>
    count === 0 ? fail(response, 500) : complete(response, request),
  );
  const gateway = await startGroups([[recovering], [await startHealthy()]], {
    health: { eviction: { duration: "1s" } },
  });
  const first = performance.now();
  expect((await ask(gateway)).headers["x-llm-provider"]).toBe("p1");
  await eventually(async () => {
    const { headers } = await ask(gateway);
    return headers["x-llm-provider"] === "p0" || null;
  }, "the return of the provider");
  expect(performance.now() - first).toBeGreaterThan(900);
  expect(recovering.received).toHaveLength(2);
});

it("the metrics show the health and ejection of providers", async () => {
  const failing = await startScripted((response) => fail(response, 500));
  const gateway = await startGroups([[failing], [await startHealthy()]]);
  await ask(gateway);
  const { body } = await send(`http://127.0.0.1:${await gateway.statsPort()}/metrics`, "GET");
  expect(body).toContain('gwc_provider_health{route="root",provider="p0"} 0.7\n');
  expect(body).toContain('gwc_provider_health{route="root",provider="p1"} 1\n');
  expect(body).toMatch(/gwc_provider_ejected_seconds{route="root",provider="p0"} [1-9]/);
  expect(body).toContain('gwc_provider_ejected_seconds{route="root",provider="p1"} 0\n');
  expect(body).toContain('gwc_provider_pending_requests{route="root",provider="p0"} 0\n');
});

it("a provider's Retry-After extends its ejection", async () => {
  const limited = await startScripted((response) => fail(response, 429, { "retry-after": "600" }));
  const gateway = await startGroups([[limited], [await startHealthy()]], {
    health: { eviction: { duration: "1ms" } },
  });
  await ask(gateway);
  await pause(50);
  await ask(gateway);
  expect(limited.received).toHaveLength(1);
});

it("a provider is ejected after the configured number of consecutive failures", async () => {
  const failing = await startScripted((response) => fail(response, 503));
  const gateway = await startGroups([[failing], [await startHealthy()]], {
    health: { eviction: { duration: LONG, consecutiveFailures: 3 } },
  });
  for (let i = 0; i < 5; i++) await ask(gateway);
  expect(failing.received).toHaveLength(3);
});

it("a provider is ejected when its health falls below the threshold", async () => {
  const failing = await startScripted((response) => fail(response, 503));
  const gateway = await startGroups([[failing], [await startHealthy()]], {
    health: { eviction: { duration: LONG, healthThreshold: 0.4 } },
  });
  for (let i = 0; i < 5; i++) await ask(gateway);
  // 0.7, 0.49, 0.343
  expect(failing.received).toHaveLength(3);
});

it("the configuration decides which responses are failures", async () => {
  const refusing = await startScripted((response) => fail(response, 404, { "x-state": "gone" }));
  const gateway = await startGroups([[refusing], [await startHealthy()]], {
    health: {
      unhealthyExpression: 'response.code == 404 && response.headers["x-state"] == "gone"',
      eviction: { duration: LONG },
    },
  });
  expect((await ask(gateway)).status).toBe(404);
  expect((await ask(gateway)).headers["x-llm-provider"]).toBe("p1");
});

it("if all are ejected, one is still called", async () => {
  const providers = await Promise.all(
    [7, 8].map((seconds) =>
      startScripted((response) => fail(response, 429, { "retry-after": String(seconds) })),
    ),
  );
  const gateway = await startGroups(providers.map((each) => [each]));
  for (let i = 1; i <= 2; i++) {
    const response = await ask(gateway);
    expect(response).toMatchObject({ status: 429, headers: { "retry-after": "8" } });
    expect(JSON.parse(response.body)).toMatchObject({
      error: { message: "it failed with 429" },
    });
    expect(providers.map(({ received }) => received.length)).toEqual([i, i]);
  }
});

it("each provider of a group is called at most once before the next group", async () => {
  const order: number[] = [];
  const providers = await Promise.all(
    [0, 1, 2, 3].map((number) =>
      startScripted((response) => {
        order.push(number);
        fail(response, 500);
      }),
    ),
  );
  const gateway = await startGroups([providers.slice(0, 3), providers.slice(3)]);
  expect((await ask(gateway)).status).toBe(500);
  expect(order.slice(0, 3).toSorted()).toEqual([0, 1, 2]);
  expect(order.slice(3)).toEqual([3]);
});

it("the slower provider of a group gets fewer requests", async () => {
  const fast = await startHealthy();
  const slow = await startScripted((response, _, request) => {
    setTimeout(() => complete(response, request), 1_000);
  });
  const gateway = await startGroups([[fast, slow]]);
  const all = Array.from({ length: 60 }, () => ask(gateway));
  await Promise.all(all);
  const before = slow.received.length;
  expect(before).toBeGreaterThan(0);
  for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 25 }, () => ask(gateway)));
  const [ofFast, ofSlow] = [fast.received.length, slow.received.length];
  expect(ofSlow).toBeGreaterThan(before);
  expect(ofFast).toBeGreaterThan(ofSlow);
});

it("failing providers get a fifth of the requests in addition, and a few for a quiet gateway", async () => {
  const providers = await Promise.all([0, 1].map(() => startScripted((each) => fail(each, 500))));
  const gateway = await startGroups(
    providers.map((each) => [each]),
    { health: { eviction: { duration: "1ms" } } },
  );
  const start = performance.now();
  for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 50 }, () => ask(gateway)));
  // A window of the budget is ten seconds, and one may have begun anew.
  const windows = 1 + Math.ceil((performance.now() - start) / 10_000);
  const asked = providers.reduce((sum, { received }) => sum + received.length, 0);
  expect(asked).toBeGreaterThan(200);
  expect(asked).toBeLessThanOrEqual(200 + 40 + 10 * windows);
});

it("a request that one provider does not support goes to another", async () => {
  const able = await startHealthy();
  const host = able.host;
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            backends: [
              {
                ai: {
                  groups: [
                    { providers: [{ name: "a", provider: { anthropic: {} }, hostOverride: host }] },
                    { providers: [{ name: "o", provider: { openAI: {} }, hostOverride: host }] },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  });
  expect(await ask(gateway, { n: 2 })).toMatchObject({ headers: { "x-llm-provider": "o" } });
  expect(able.received.map(({ url }) => url)).toEqual(["/v1/chat/completions"]);
});

it("the name of the provider can be removed from responses", async () => {
  const policies = { ai: { providerHeader: false } };
  const gateway = await startGroups([[await startHealthy()], [await startHealthy()]], { policies });
  expect((await ask(gateway)).headers).not.toHaveProperty("x-llm-provider");
});

it("a provider that exceeds the attempt timeout is followed by the next one", async () => {
  const silent = await startScripted(() => {});
  const gateway = await startGroups([[silent], [await startHealthy()]], {
    policies: { timeout: { backendRequestTimeout: PATIENT } },
  });
  expect(await ask(gateway)).toMatchObject({ status: 200, headers: { "x-llm-provider": "p1" } });
});

it("a request that exceeds its timeout is a 504", async () => {
  const silent = await startScripted(() => {});
  const other = await startHealthy();
  const policies = { timeout: { requestTimeout: "300ms" } };
  const gateway = await startGroups([[silent], [other]], { policies });
  const response = await ask(gateway);
  expect(response.status).toBe(504);
  expect(JSON.parse(response.body).error).toMatchObject({ code: "timeout" });
  expect(other.received).toHaveLength(0);
});

it("a stream that exceeds its timeout ends with an error event", async () => {
  const stalling = await startScripted((response) => {
    startStream(response);
    response.write(streamed.slice(0, 2).join(""));
  });
  const policies = { timeout: { requestTimeout: PATIENT } };
  const gateway = await startGroups([[stalling], [await startHealthy()]], { policies });
  const { body } = await ask(gateway, { stream: true });
  expect(body).toContain('"content":"Hi"');
  expect(body).toMatch(/"code":"timeout"}}\n\n$/);
});

it("a slow client does not count as a failure of the provider", async () => {
  const event = chunk({ content: "x".repeat(60_000) });
  let brokenOff = 0;
  const writing = await startScripted((response, _, request) => {
    if (brokenOff > 0) {
      complete(response, request);
      return;
    }
    response.on("close", () => {
      brokenOff += 1;
    });
    startStream(response);
    response.write(streamed[0]);
    for (let i = 0; i < 400; i += 1) response.write(event);
    response.end(streamed.slice(3).join(""));
  });
  const policies = { timeout: { requestTimeout: PATIENT } };
  const gateway = await startGroups([[writing], [await startHealthy()]], { policies });
  const body = JSON.stringify({
    model: "m",
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  });
  const client = new RawClient(gateway.port);
  client.socket.pause();
  client.send(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => brokenOff || null, "the end of the request to the provider");
  client.socket.destroy();
  const { headers } = await ask(gateway, { stream: true });
  expect(headers["x-llm-provider"]).toBe("p0");
});

it.each([false, true])(
  "a client that leaves takes its request to the provider along (stream: %s)",
  async (stream) => {
    let gone = false;
    const silent = await startScripted((response) => {
      response.on("close", () => {
        gone = true;
      });
      if (!stream) return;
      startStream(response);
      response.write(streamed.slice(0, 2).join(""));
    });
    const other = await startHealthy();
    const gateway = await startGroups([[silent], [other]]);
    const client = new RawClient(gateway.port);
    const body = JSON.stringify({
      model: "m",
      stream,
      messages: [{ role: "user", content: "Hello" }],
    });
    client.send(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(() => silent.received.length || null, "the request");
    if (stream) await client.receives('"Hi"');
    client.socket.destroy();
    await eventually(() => gone || null, "the end of the request to the provider");
    expect(other.received).toHaveLength(0);
  },
);
