import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { type CollectedSpan, startCollector } from "../harness/otlp-collector.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

/** Starts a gateway that traces every request, before a backend. */
async function start(host: string) {
  const collector = await startCollector();
  const tracing = { host: collector.host, protocol: "http", randomSampling: true };
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing } },
    listeners: [{ name: "http", routes: [{ name: "all", backends: [{ host }] }] }],
  });
  const spans = async (kind: "SERVER" | "CLIENT"): Promise<readonly CollectedSpan[]> => {
    expect(await gateway.stop()).toBe(0);
    return collector.spans.filter((each) => each.kind === `SPAN_KIND_${kind}`);
  };
  return { gateway, spans };
}

/** Returns what the backend receives of a request with these lines, verbatim. */
async function passedOn(...lines: readonly string[]) {
  let seen: readonly string[] = [];
  const backend = createServer(({ rawHeaders }, response) => {
    seen = rawHeaders;
    response.end("there");
  });
  const { gateway, spans } = await start(`127.0.0.1:${await listen(backend)}`);
  const client = new RawClient(gateway.port);
  client.send(["GET /a HTTP/1.1", "Host: shop", ...lines, "", ""].join("\r\n"));
  await client.receives("there");
  const contexts = seen.filter((_, i) => seen[i - 1]?.toLowerCase() === "traceparent");
  return { seen, contexts, spans };
}

it("a request's fields are forwarded verbatim, except for the context of the call", async () => {
  const { seen, contexts, spans } = await passedOn(
    "X-Mixed-Case: As  It Came",
    `TraceParent: 00-${TRACE}-${SPAN}-01`,
    "TraceState: vendor=1",
    "X-Last: 1",
  );
  const calls = await spans("CLIENT");
  expect(calls).toHaveLength(1);
  expect(contexts).toEqual([`00-${TRACE}-${calls[0]?.spanId}-01`]);
  expect(seen.slice(seen.indexOf("X-Mixed-Case"))).toEqual(
    expect.arrayContaining(["As  It Came", "TraceState", "vendor=1", "X-Last", "1"]),
  );
});

it("two contexts are invalid, so that a new trace begins", async () => {
  const { contexts, spans } = await passedOn(
    `traceparent: 01-${TRACE}-${SPAN}-01-a`,
    "x-between: 1",
    `Traceparent: 01-${TRACE}-${SPAN}-01-b`,
  );
  expect(contexts).toHaveLength(1);
  expect(contexts[0]).not.toContain(TRACE);
  expect((await spans("SERVER")).map(({ parentSpanId }) => parentSpanId)).toEqual([undefined]);
});

it("a context of a later version may have a comma after its known fields", async () => {
  const { contexts, spans } = await passedOn(`traceparent: 01-${TRACE}-${SPAN}-01-a,b`);
  expect(contexts[0]).toContain(`00-${TRACE}-`);
  expect((await spans("SERVER")).map(({ parentSpanId }) => parentSpanId)).toEqual([SPAN]);
});

it("the span of a call through a Unix socket has the socket's path and no port", async () => {
  const socket = `${temporaryFolder()}/app.sock`;
  const app = createServer((_, response) => response.end("there"));
  await new Promise<void>((resolve) => app.listen(socket, resolve));
  const { gateway, spans } = await start(`unix:${socket}`);
  expect(await (await fetch(gateway.url)).text()).toBe("there");
  const [call] = await spans("CLIENT");
  app.close();
  expect(call?.attributes).toMatchObject({ "server.address": socket });
  expect(call?.attributes).not.toHaveProperty("server.port");
});

it("a long response to a slow client arrives byte for byte when traced", async () => {
  const body = randomBytes(8 * 1024 * 1024);
  const backend = createServer((_, response) => response.end(body));
  const { gateway, spans } = await start(`127.0.0.1:${await listen(backend)}`);
  const quick = fetch(gateway.url).then((response) => response.arrayBuffer());
  const slow = (async () => {
    const pieces: Uint8Array[] = [];
    const { body: stream } = await fetch(gateway.url);
    for await (const piece of stream ?? []) {
      pieces.push(piece);
      if (pieces.length < 20) await sleep(5);
    }
    return Buffer.concat(pieces);
  })();
  expect(Buffer.from(await quick).equals(body)).toBe(true);
  expect((await slow).equals(body)).toBe(true);
  expect(await spans("CLIENT")).toHaveLength(2);
});
