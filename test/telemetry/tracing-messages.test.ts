import { createServer } from "node:http";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import {
  type OtlpCollector,
  startCollector,
  startGrpcCollector,
  tracedAll,
} from "../harness/otlp-collector.ts";
import { post } from "../mcp/raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "../mcp/raw-upstream.ts";
import { ask, envelope } from "../mcp/stateless-client.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const CONTEXT = `00-${TRACE}-${SPAN}-01`;

/** A client's trace context that is only in the message (SEP-414). */
const meta = { traceparent: CONTEXT, tracestate: "vendor=1", baggage: "team=red", own: 1 };

it.each(["sessions", "stateless"] as const)(
  "a call whose message alone has a trace context is part of that trace, and so is its server (%s)",
  async (era) => {
    const { collector, gateway, server } = await served(era, (to) => tracing(to, {}));
    await call[era](gateway, meta);
    expect(await gateway.stop()).toBe(0);

    const [toServer, received] = ofOneCall(collector);
    expect(received).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
    expect(toServer).toMatchObject({ traceId: TRACE, parentSpanId: received?.spanId });
    expect(toServer?.name).toBe("tools/call add");
    expect(Number(toServer?.start)).toBeGreaterThanOrEqual(Number(received?.start));
    expect(Number(toServer?.end)).toBeLessThanOrEqual(Number(received?.end));
    expect(gateway.stdout).toContain(`trace.id=${TRACE} span.id=${received?.spanId}`);
    // Its header and its message contain the same context.
    const own = `00-${TRACE}-${toServer?.spanId}-01`;
    const seen = server.seen.at(-1);
    expect(seen?.headers).toMatchObject({ traceparent: own, tracestate: "vendor=1" });
    expect(metaOf(seen?.text)).toMatchObject({ ...meta, traceparent: own });
  },
);

it.each(["sessions", "stateless"] as const)(
  "a trace header takes precedence over the message, which then gets the context of the gateway's call (%s)",
  async (era) => {
    const { collector, gateway, server } = await served(era, (to) => tracing(to, {}));
    const other = "4bf92f3577b34da6a3ce929d0e0e4736";
    await call[era](gateway, meta, { traceparent: `00-${other}-${SPAN}-01` });
    expect(await gateway.stop()).toBe(0);
    const [toServer] = ofOneCall(collector);
    const own = `00-${other}-${toServer?.spanId}-01`;
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual([other, other]);
    expect(server.seen.at(-1)?.headers).toMatchObject({ traceparent: own });
    expect(metaOf(server.seen.at(-1)?.text)).toMatchObject({ traceparent: own });
  },
);

it.each(["sessions", "stateless"] as const)(
  "a trace that the client does not record, by its message, is forwarded unchanged (%s)",
  async (era) => {
    const { collector, gateway, server } = await served(era, tracedAll);
    const unrecorded = { ...meta, traceparent: `00-${TRACE}-${SPAN}-00` };
    await call[era](gateway, unrecorded);
    expect(await gateway.stop()).toBe(0);
    expect(collector.spans).toEqual([]);
    expect(gateway.stdout).toContain(`trace.id=${TRACE}`);
    expect(gateway.stdout).not.toContain("span.id");
    expect(metaOf(server.seen.at(-1)?.text)).toMatchObject(unrecorded);
    expect(server.seen.at(-1)?.headers).not.toHaveProperty("traceparent");
  },
);

it.each([
  ["an invalid context", { traceparent: "00-0-0-01", tracestate: "vendor=1" }],
  ["a number", { traceparent: 7 }],
  ["another line", { traceparent: `${CONTEXT}\r\nx: y` }],
])("%s in a message begins no trace", async (_what, wrong) => {
  const { collector, gateway, server } = await served("stateless", tracedAll);
  await call.stateless(gateway, wrong);
  expect(await gateway.stop()).toBe(0);
  const [toServer, received] = ofOneCall(collector);
  expect(received?.parentSpanId).toBeUndefined();
  expect(received?.traceId).not.toBe(TRACE);
  const own = `00-${received?.traceId}-${toServer?.spanId}-01`;
  expect(server.seen.at(-1)?.headers.traceparent).toBe(own);
  expect(metaOf(server.seen.at(-1)?.text)).toMatchObject({ traceparent: own });
});

it("an invalid tracestate is not forwarded", async () => {
  const { collector, gateway, server } = await served("sessions", (to) => tracing(to, {}));
  await call.sessions(gateway, { ...meta, tracestate: "vendor=1\r\nx-admin: true" });
  expect(await gateway.stop()).toBe(0);
  expect(ofOneCall(collector)).toHaveLength(2);
  expect(server.seen.at(-1)?.headers).not.toHaveProperty("x-admin");
  expect(server.seen.at(-1)?.headers).not.toHaveProperty("tracestate");
});

it("clientSampling applies to traces in messages", async () => {
  const never = (to: OtlpCollector) => tracing(to, { randomSampling: true, clientSampling: false });
  const { collector, gateway } = await served("stateless", never);
  await call.stateless(gateway, meta);
  await call.stateless(gateway, {});
  expect(await gateway.stop()).toBe(0);
  expect(collector.spans.map(({ traceId }) => traceId === TRACE)).toEqual([false, false]);
});

it.each([
  ["http", startCollector],
  ["grpc", startGrpcCollector],
])(
  "a request with earlier callouts stays in its trace and links to the client's (%s)",
  async (protocol, start) => {
    const authorization = createServer((_request, response) => response.writeHead(204).end());
    const host = `127.0.0.1:${await listen(authorization)}`;
    const policies = { extAuthz: { host, protocol: { http: {} } } };
    const all = (to: OtlpCollector) => tracing(to, { protocol, randomSampling: true });
    const { collector, gateway } = await served("sessions", all, policies, start);
    await call.sessions(gateway, meta);
    expect(await gateway.stop()).toBe(0);
    const { spans } = collector;
    const [received] = spans.filter(({ kind }) => kind === "SPAN_KIND_SERVER");
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([received?.traceId]));
    expect(received?.traceId).not.toBe(TRACE);
    expect(received?.parentSpanId).toBeUndefined();
    expect(received?.links).toEqual([{ traceId: TRACE, spanId: SPAN }]);
    expect(spans).toHaveLength(3);
  },
);

it("large messages of an open route are not buffered, and their headers name their spans", async () => {
  const { collector, gateway, server } = await served("stateless", tracedAll);
  const filler = "x".repeat(9 * 1024 * 1024);
  const response = await ask(gateway.url, "tools/call", { name: "add", arguments: { filler } });
  expect(response.status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  const [toServer] = ofOneCall(collector);
  expect(server.seen.at(-1)?.text).toContain(filler);
  expect(server.seen.at(-1)?.headers.traceparent).toContain(toServer?.spanId);
});

function tracing({ host }: OtlpCollector, sampling: object): object {
  return { frontendPolicies: { tracing: { host, protocol: "http", ...sampling } } };
}

async function served(
  era: "sessions" | "stateless",
  traced: (collector: OtlpCollector) => object,
  policies: object = {},
  start: () => Promise<OtlpCollector> = startCollector,
): Promise<{ collector: OtlpCollector; gateway: Gateway; server: RawUpstream }> {
  const collector = await start();
  const server = await startUpstream(
    mcpResponses({ "tools/call": '{"resultType":"complete","content":[]}' }),
  );
  const targets = [{ name: "one", era, mcp: { host: server.url } }];
  const gateway = await startGateway({
    file: traced(collector),
    listeners: [{ routes: [{ name: "tools", policies, backends: [{ mcp: { targets } }] }] }],
  });
  return { collector, gateway, server };
}

/** A call of the tool `add` with a `_meta`. */
const call = {
  sessions: (gateway: Gateway, _meta: object, headers: Record<string, string> = {}) =>
    post(
      gateway.url,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", _meta } },
      headers,
    ),
  stateless: (gateway: Gateway, _meta: object, headers: Record<string, string> = {}) =>
    ask(gateway.url, "tools/call", { name: "add", _meta: { ...envelope, ..._meta } }, headers),
} as const;

/** Returns the span of the call, and the one of the request. */
function ofOneCall({ spans }: OtlpCollector) {
  expect(spans).toHaveLength(2);
  return ["SPAN_KIND_CLIENT", "SPAN_KIND_SERVER"].map((each) =>
    spans.find(({ kind }) => kind === each),
  );
}

function metaOf(text = "{}"): object {
  return JSON.parse(text).params._meta;
}
