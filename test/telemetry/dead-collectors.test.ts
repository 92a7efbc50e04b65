import { createServer, type ServerResponse } from "node:http";
import path from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { root } from "../harness/root.ts";
import { TestProcess } from "../harness/test-process.ts";

/** Collectors that never accept anything, each in a different way. */
const dead = {
  refuses: async () => `127.0.0.1:${await freePort()}`,
  "takes connections and never responds": async () => {
    const silent = createServer(() => {});
    return `127.0.0.1:${await listen(silent)}`;
  },
  "does not take a connection": async () => {
    const script = path.join(root, "test/harness/never-accepts.ts");
    const server = new TestProcess(process.execPath, [script]);
    const [, address = ""] = await server.seen(/listening on (\S+)/);
    return address;
  },
};

/** Maximum number of spans or records in a queue and in a batch in flight. */
const MAX_HELD = 2_048 + 512;

it.each([
  ["refuses", "http", "does not take a connection", "grpc"],
  ["takes connections and never responds", "http", "refuses", "grpc"],
  ["does not take a connection", "http", "takes connections and never responds", "grpc"],
] as const)(
  "a collector of spans that %s (%s) and one of log records that %s (%s) cost no requests and bounded memory",
  async (spans, protocol, records, logProtocol) => {
    const seen: (string | undefined)[] = [];
    const upstream = createServer(({ headers }, response) => {
      seen.push(headers.traceparent?.toString(), headers["x-own"]?.toString());
      response.end();
    });
    const host = `127.0.0.1:${await listen(upstream)}`;
    const gateway = await startGateway({
      file: {
        frontendPolicies: {
          tracing: { host: await dead[spans](), protocol, randomSampling: true },
          accessLog: { otlp: { host: await dead[records](), protocol: logProtocol } },
        },
      },
      listeners: [
        {
          name: "http",
          routes: [
            { name: "passed", matches: [{ path: { exact: "/passed" } }], backends: [{ host }] },
            { name: "all", policies: { directResponse: { status: 200 } } },
          ],
        },
      ],
    });
    // Both queues are full by then.
    await ask(gateway, 3_000);
    const before = await heldMegabytes(gateway);
    await ask(gateway, 9_000);
    // A span or record has about half a kilobyte; stored, they would take 9 MB.
    expect((await heldMegabytes(gateway)) - before).toBeLessThan(4);
    const { value } = await expositionOf(await gateway.statsPort());
    for (const signal of ["traces", "logs"]) {
      expect(value(`gwc_otlp_exported_total{signal="${signal}"}`)).toBe(0);
      const dropped = value(`gwc_otlp_dropped_total{signal="${signal}"}`);
      expect(dropped).toBeGreaterThanOrEqual(12_000 - MAX_HELD);
      expect(dropped).toBeLessThanOrEqual(12_000);
    }
    // Spans that are not recorded are still part of their trace for servers behind the gateway.
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const contexts = [{}, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }];
    for (const context of contexts) {
      const headers = { ...context, "x-own": "kept" };
      const { status } = await fetch(`${gateway.url}/passed`, { headers });
      expect(status).toBe(200);
    }
    expect(seen).toEqual([
      expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      "kept",
      expect.stringMatching(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`)),
      "kept",
    ]);
    await gateway.seen(/warn\tgateway spans do not reach 127\.0\.0\.1:\d+: /);
    await gateway.seen(/warn\tgateway log records do not reach 127\.0\.0\.1:\d+: /);
  },
);

it("a slow collector gets several batches at once and loses none", async () => {
  const held: ServerResponse[] = [];
  let batches = 0;
  const collector = createServer((request, response) => {
    request.resume();
    batches += 1;
    // Until it has accepted one batch, its behavior is unknown.
    if (batches === 1) response.end("{}");
    else held.push(response);
  });
  const host = `127.0.0.1:${await listen(collector)}`;
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing: { host, protocol: "http", randomSampling: true } } },
    listeners: [
      { name: "http", routes: [{ name: "all", policies: { directResponse: { status: 200 } } }] },
    ],
  });
  const exported = async () => {
    const { value } = await expositionOf(await gateway.statsPort());
    return value('gwc_otlp_exported_total{signal="traces"}');
  };
  await ask(gateway, 512);
  await eventually(async () => (await exported()) === 512 || null, "the first batch is taken");
  await ask(gateway, 8 * 512 + 1_024);
  await eventually(() => held.length === 8 || null, "eight batches are in flight");
  for (const response of held.splice(0)) response.end("{}");
  await eventually(() => held.length === 2 || null, "the rest are in flight");
  for (const response of held) response.end("{}");
  await eventually(async () => (await exported()) === 11 * 512 || null, "all spans are exported");
});

/** Sends this number of requests on one connection and waits for the responses. */
async function ask({ port }: Gateway, count: number): Promise<void> {
  const client = new RawClient(port);
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(count));
  const responses = () => client.received.match(/HTTP\/1\.1 \d+/g) ?? [];
  await eventually(() => responses().length === count || null, `${count} responses`);
  expect(new Set(responses())).toEqual(new Set(["HTTP/1.1 200"]));
}
