import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { chunkPayloads, headPayloads, type Payload, smuggled, unusualPayloads } from "./corpus.ts";
import { startOrigin } from "./origin.ts";

async function startTarget() {
  const origin = await startOrigin();
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }],
  });
  return { origin, gateway };
}

/** Whether a promise is kept. */
const isDone = [() => true, () => false] as const;

/** Payloads that are not answered 400, once, with the end of the connection; another request follows each. */
async function unrefused(port: number, payloads: readonly Payload[]): Promise<readonly string[]> {
  const found = payloads.map(async ({ name, bytes }) => {
    const client = new RawClient(port);
    client.send(`${bytes}${smuggled}`);
    const isClosed = await client.closes().then(...isDone);
    const { received } = client;
    const isRefused = /^HTTP\/1\.1 400 /.test(received) && received.split("HTTP/1.1 ").length === 2;
    return isClosed && isRefused ? [] : [`${name} got ${received}`.slice(0, 500)];
  });
  return (await Promise.all(found)).flat();
}

it("a head that could be read in two ways is answered 400, its connection closed, and is never forwarded", async () => {
  const { origin, gateway } = await startTarget();
  expect(await unrefused(gateway.port, headPayloads)).toEqual([]);
  expect(origin.bytes()).toBe("");
});

it("a chunk that could be read in two ways is answered 400, its connection closed, its request never whole", async () => {
  const { origin, gateway } = await startTarget();
  expect(await unrefused(gateway.port, chunkPayloads)).toEqual([]);
  expect(origin.requests).toEqual([]);
  expect(origin.faults).toEqual([]);
  expect(origin.bytes()).not.toMatch(/smuggled/);
});

it("an endless chunk extension is answered 413", async () => {
  const { origin, gateway } = await startTarget();
  const client = new RawClient(gateway.port);
  const head = "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  client.send(`${head}5;${"x".repeat(20_000)}\r\nhello\r\n0\r\n\r\n${smuggled}`);
  await client.closes();
  expect(client.received).toMatch(/^HTTP\/1\.1 413 /);
  expect(origin.requests).toEqual([]);
});

it("what is unusual and can be read in one way only is written in the usual way upstream", async () => {
  const { origin, gateway } = await startTarget();
  for (const [bytes, seen] of unusualPayloads) {
    const client = new RawClient(gateway.port);
    client.send(`${bytes}GET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.closes();
    expect(client.received.match(/HTTP\/1\.1 200 /g), bytes).toHaveLength(2);
    const reached = origin.requests.splice(0);
    const texts = reached.map(({ method, target, body }) => `${method} ${target} ${body}`.trim());
    expect(texts, bytes).toEqual([seen, "GET /second"]);
  }
  expect(origin.faults).toEqual([]);
});
