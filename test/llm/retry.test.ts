import OpenAI from "openai";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { complete, fail, startHealthy } from "./llm-upstream.ts";

const json = { "content-type": "application/json" };

/** A provider that fails so often, with a status, and then completes. */
function startFailing(
  times: number,
  status = 503,
  headers: Readonly<Record<string, string>> = {},
): Promise<Scripted> {
  return startScripted((response, count, request) =>
    count < times ? fail(response, status, headers) : complete(response, request),
  );
}

function start(
  hosts: readonly string[],
  retry: object | undefined,
  type = "completions",
  policies: object = {},
): Promise<Gateway> {
  const providers = hosts.map((hostOverride, index) => ({
    name: `p${index}`,
    provider: { openAI: {} },
    hostOverride,
  }));
  const groups = providers.map((provider) => ({ providers: [provider] }));
  return startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: [
          {
            policies: {
              backendAuth: { key: "${KEY}" },
              ai: { routes: { "*": type } },
              ...(retry && { retry }),
              ...policies,
            },
            backends: [{ ai: groups.length === 1 ? providers[0] : { groups } }],
          },
        ],
      },
    ],
  });
}

function ask(gateway: Gateway, headers: Record<string, string> = {}, content = "Hello") {
  const client = new OpenAI({
    apiKey: "c",
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: headers,
  });
  return client.chat.completions.create({ model: "m", messages: [{ role: "user", content }] });
}

it("the only provider is asked again, with a body of any length", async () => {
  const { host, received } = await startFailing(2);
  const gateway = await start([host], { attempts: 2, backoff: "10ms" });
  const { choices } = await ask(gateway, {}, "x".repeat(200_000));
  expect(choices[0]?.message.content).toBe("Hi.");
  expect(received).toHaveLength(3);
  expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
  await gateway.seen(/http\.status=200 .*retry\.attempt=2/);
});

it("when no try is left the client gets the last error", async () => {
  const { host, received } = await startFailing(9);
  const gateway = await start([host], { attempts: 1 });
  await expect(ask(gateway)).rejects.toMatchObject({ status: 503 });
  expect(received).toHaveLength(2);
});

it("tries go on to the next provider, and begin anew behind the last one", async () => {
  const first = await startFailing(1);
  const second = await startFailing(1);
  const gateway = await start([first.host, second.host], { attempts: 2 });
  await ask(gateway);
  expect(first.received.length + second.received.length).toBe(3);
});

it("tries are bounded with several providers, too", async () => {
  const first = await startFailing(9);
  const second = await startHealthy();
  const gateway = await start([first.host, second.host], { attempts: 0 });
  await expect(ask(gateway)).rejects.toMatchObject({ status: 503 });
  expect(second.received).toEqual([]);
});

it("an error of the request itself is retried only if configured", async () => {
  const wrong = await startFailing(1, 422);
  const gateway = await start([wrong.host], { attempts: 1 });
  await expect(ask(gateway)).rejects.toMatchObject({ status: 422 });
  const listed = await startFailing(1, 422);
  await ask(await start([listed.host], { attempts: 1, codes: [422] }));
  const tested = await startFailing(1, 422, { "x-again": "yes" });
  const condition = 'response.headers["x-again"] == "yes"';
  await ask(await start([tested.host], { attempts: 1, condition }));
});

it("a request that may not be sent again is sent once", async () => {
  const { host, received } = await startFailing(1);
  const precondition = 'request.headers["x-safe"] == "yes"';
  const gateway = await start([host], { attempts: 1, precondition });
  await expect(ask(gateway)).rejects.toMatchObject({ status: 503 });
  await ask(gateway, { "x-safe": "yes" });
  expect(received).toHaveLength(2);
});

it("a provider that asks for some time gets it, and one that asks for long is not asked again", async () => {
  const soon = await startFailing(1, 429, { "retry-after": "1" });
  const gateway = await start([soon.host], { attempts: 1 });
  const before = performance.now();
  await ask(gateway);
  expect(performance.now() - before).toBeGreaterThanOrEqual(990);
  const far = await startFailing(1, 429, { "retry-after": "60" });
  const waiting = ask(await start([far.host], { attempts: 1 }));
  await expect(waiting).rejects.toMatchObject({ status: 429 });
  expect(far.received).toHaveLength(1);
});

it("a passed-through request goes to the next provider if one fails", async () => {
  const first = await startFailing(9);
  const second = await startHealthy();
  const gateway = await start([first.host, second.host], undefined, "passthrough");
  const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  const answered = await send(`${gateway.url}/v1/chat/completions`, "POST", json, text);
  expect(answered.status).toBe(200);
  expect(answered.headers["x-llm-provider"]).toBe("p1");
  expect(second.received[0]?.body.toString()).toBe(text);
});

it("a passed-through request is retried at the only provider if configured", async () => {
  const { host, received } = await startFailing(1);
  const gateway = await start([host], { attempts: 1 }, "passthrough");
  const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  const answered = await send(`${gateway.url}/v1/chat/completions`, "POST", json, text);
  expect(answered.status).toBe(200);
  expect(received).toHaveLength(2);
});

it("what passes as it came keeps to the time of a try", async () => {
  const { host } = await startScripted(() => {});
  const policies = { timeout: { backendRequestTimeout: "200ms" } };
  const gateway = await start([host], undefined, "passthrough", policies);
  const answered = await send(`${gateway.url}/v1/models`, "GET");
  expect(answered.status).toBe(504);
});
