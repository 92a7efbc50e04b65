import { beforeAll, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";

type Scripted = Awaited<ReturnType<typeof startScripted>>;
let one: Scripted;
let two: Scripted;
let gateway: Gateway;

beforeAll(async () => {
  [one, two] = (await Promise.all(
    ["one", "two"].map((name) =>
      startScripted((response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ name }));
      }),
    ),
  )) as [Scripted, Scripted];
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    config: {
      llm: {
        port: await freePort(),
        models: [
          {
            ...{ name: "a-*", provider: "openai", passthrough: "opaque" },
            params: { apiKey: "${KEY}", hostOverride: one.host },
          },
          {
            ...{ name: "b", provider: "openai", passthrough: "opaque" },
            params: { apiKey: "${KEY}", hostOverride: two.host },
            authorization: { rules: ['"x-open" in request.headers'] },
          },
          {
            ...{ name: "closed", provider: "openai" },
            params: { apiKey: "${KEY}", hostOverride: two.host },
          },
        ],
      },
    },
  });
});

async function sent(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}

it("a request to an unknown path passes unread to the provider of its model", async () => {
  const body = { model: "a-1", input: [1, 2], odd: 1.5 };
  expect(await sent("/v1/rerank?x=1", body)).toEqual({ status: 200, body: { name: "one" } });
  const last = one.received.at(-1);
  expect(last?.url).toBe("/v1/rerank?x=1");
  expect(last?.headers.authorization).toBe("Bearer provider-key");
  expect(JSON.parse(String(last?.body))).toEqual(body);
});

it("the path can name the model", async () => {
  expect(await sent("/model/a-1/invoke", {})).toMatchObject({ body: { name: "one" } });
});

it("rules of the model hold for requests that pass unread", async () => {
  expect(await sent("/v1/rerank", { model: "b" })).toMatchObject({ status: 403 });
  expect(await sent("/v1/rerank", { model: "b" }, { "x-open": "1" })).toMatchObject({
    body: { name: "two" },
  });
});

it("a model without passthrough gets no request to an unknown path", async () => {
  expect(await sent("/v1/rerank", { model: "closed" })).toMatchObject({ status: 404 });
  expect(await sent("/v1/rerank", {})).toMatchObject({ status: 400 });
});
