import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { startGateway } from "../harness/gateway.ts";
import {
  type CollectedSpan,
  type OtlpCollector,
  startCollector,
  startGrpcCollector,
} from "../harness/otlp-collector.ts";
import { startUpstream } from "../harness/upstream.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const PARENT = `00-${TRACE}-${SPAN}-01`;

/** Starts a gateway with this tracing, before an upstream that returns the trace headers that it got. */
async function start(tracing: object, routes?: (upstream: string) => readonly object[]) {
  const collector = await startCollector();
  const upstream = await startUpstream((request, response) => {
    const { traceparent = null, tracestate = null } = request.headers;
    response.statusCode = request.url === "/broken" ? 503 : 200;
    response.end(JSON.stringify({ traceparent, tracestate }));
  });
  const gateway = await startGateway({
    file: {
      frontendPolicies: { tracing: { host: collector.host, protocol: "http", ...tracing } },
    },
    listeners: [
      {
        name: "http",
        routes: routes?.(upstream) ?? [
          { name: "all", backends: [{ host: upstream }] },
          {
            name: "closed",
            matches: [{ path: { exact: "/closed" } }],
            policies: { directResponse: { status: 500, body: "closed" } },
          },
        ],
      },
    ],
  });
  return { collector, gateway, upstream };
}

async function ask(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ readonly traceparent: string | null; readonly tracestate: string | null }> {
  return JSON.parse(await (await fetch(url, { headers })).text());
}

/** Returns the exported spans after the gateway has ended, which sends its queue first. */
async function ended({
  collector,
  gateway,
}: Awaited<ReturnType<typeof start>>): Promise<readonly CollectedSpan[]> {
  expect(await gateway.stop()).toBe(0);
  return collector.spans;
}

function only(spans: readonly CollectedSpan[], kind: "SERVER" | "CLIENT"): CollectedSpan {
  const [span, ...others] = spans.filter((each) => each.kind === `SPAN_KIND_${kind}`);
  if (span === undefined || others.length > 0) throw new Error(JSON.stringify(spans));
  return span;
}

it("a request is a span of the client's trace, and the call to the upstream is its child", async () => {
  const traced = await start({});
  const { gateway, upstream } = traced;
  const seen = await ask(`${gateway.url}/a?key=secret`, {
    traceparent: PARENT,
    tracestate: "vendor=1,other=2",
  });
  const spans = await ended(traced);
  expect(spans).toHaveLength(2);
  const server = only(spans, "SERVER");
  const client = only(spans, "CLIENT");
  expect(server).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, name: "GET /*" });
  expect(client).toMatchObject({ traceId: TRACE, parentSpanId: server.spanId, name: "GET" });
  expect(seen.traceparent).toBe(`00-${TRACE}-${client.spanId}-01`);
  expect(seen.tracestate).toBe("vendor=1,other=2");
  expect(server.attributes).toMatchObject({
    "http.request.method": "GET",
    "url.scheme": "http",
    "url.path": "/a",
    "server.address": "127.0.0.1",
    "http.route": "/*",
    "http.response.status_code": 200,
    "client.address": "127.0.0.1",
    "network.protocol.version": "1.1",
    listener: "http",
    route: "all",
    endpoint: new URL(upstream).host,
  });
  expect(client.attributes).toEqual({
    "http.request.method": "GET",
    "url.full": `${upstream}/a`,
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(upstream).port),
    "http.response.status_code": 200,
  });
  expect(server.resource).toMatchObject({ "service.name": "test" });
  expect(
    server.start <= client.start && client.start <= client.end && client.end <= server.end,
  ).toBe(true);
  const line = (await gateway.seen(/^.*\trequest .*$/m))[0];
  expect(line).toContain(`trace.id=${TRACE} span.id=${server.spanId}`);
});

it("requests without a trace are sampled by randomSampling", async () => {
  const traced = await start({ randomSampling: 'request.path == "/yes" ? 1.0 : 0.0' });
  const { gateway } = traced;
  const yes = await ask(`${gateway.url}/yes`, { tracestate: "left=over" });
  const no = await ask(`${gateway.url}/no`);
  expect(no).toEqual({ traceparent: null, tracestate: null });
  const spans = await ended(traced);
  const server = only(spans, "SERVER");
  expect(server.parentSpanId).toBeUndefined();
  expect(yes).toEqual({
    traceparent: `00-${server.traceId}-${only(spans, "CLIENT").spanId}-01`,
    tracestate: null,
  });
});

it("an unsampled trace of a client is forwarded unchanged", async () => {
  const traced = await start({ clientSampling: 'request.headers["x-trace"] == "yes"' });
  const { gateway } = traced;
  const unrecorded = `00-${TRACE}-${SPAN}-00`;
  const headers = { tracestate: "a=b", "x-trace": "yes" };
  expect(await ask(gateway.url, { ...headers, traceparent: unrecorded })).toEqual({
    traceparent: unrecorded,
    tracestate: "a=b",
  });
  expect((await ask(gateway.url, { traceparent: PARENT })).traceparent).toBe(PARENT);
  expect((await ask(gateway.url, { ...headers, traceparent: PARENT })).traceparent).not.toBe(
    PARENT,
  );
  expect(await ended(traced)).toHaveLength(2);
  expect(gateway.output.match(new RegExp(`trace.id=${TRACE}`, "g"))).toHaveLength(3);
});

it("an invalid traceparent begins a new trace", async () => {
  const invalid = [
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `${PARENT}-x`,
    `${PARENT}, ${PARENT}`,
    "traceparent",
  ];
  const traced = await start({ randomSampling: true });
  const { url } = traced.gateway;
  for (const traceparent of invalid) {
    const seen = await ask(url, { traceparent, tracestate: "a=b" });
    expect(seen.traceparent, traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(seen.traceparent, traceparent).not.toContain(TRACE);
    expect(seen.tracestate, traceparent).toBeNull();
  }
  const later = `cc-${TRACE}-${SPAN}-01-what-the-future`;
  const seen = await ask(url, { traceparent: later, tracestate: "a=b" });
  expect(seen.traceparent).toContain(`00-${TRACE}-`);
  expect(seen.tracestate).toBe("a=b");
  const parents = (await ended(traced)).flatMap(({ kind, parentSpanId }) =>
    kind === "SPAN_KIND_SERVER" ? [parentSpanId] : [],
  );
  expect(parents).toEqual([...invalid.map(() => undefined), SPAN]);
});

it("spans have the error of an upstream or the gateway", async () => {
  const traced = await start({ randomSampling: true }, (upstream) => [
    { name: "all", backends: [{ host: upstream }] },
    {
      name: "gone",
      matches: [{ path: { exact: "/gone" } }],
      backends: [{ host: "127.0.0.1:1" }],
    },
  ]);
  for (const path of ["broken", "gone"]) await fetch(`${traced.gateway.url}/${path}`);
  const spans = await ended(traced);
  const found = spans.map(({ kind, error, attributes }) => [
    kind.replace("SPAN_KIND_", ""),
    error,
    attributes["http.response.status_code"],
  ]);
  expect(found).toEqual([
    ["CLIENT", "503", 503],
    ["SERVER", "503", 503],
    ["CLIENT", "connect", undefined],
    ["SERVER", "UpstreamFailure", 503],
  ]);
});

it("attributes can be excluded and added", async () => {
  const traced = await start({
    randomSampling: true,
    remove: ["http.method", "user_agent.original", "listener"],
    attributes: {
      team: 'request.headers["x-team"]',
      twice: "response.code * 2",
      missing: "jwt.sub",
    },
    resources: { "deployment.environment.name": '"test"', "gateway.name": "env.gateway" },
  });
  await ask(traced.gateway.url, { "x-team": "red, green" });
  const { attributes, resource } = only(await ended(traced), "SERVER");
  expect(Object.keys(attributes)).toEqual([
    ...["url.scheme", "url.path", "server.address", "http.route", "http.response.status_code"],
    ...["client.address", "network.protocol.version", "route", "endpoint", "team", "twice"],
  ]);
  expect(attributes).toMatchObject({ team: "red, green", twice: 400 });
  expect(resource).toMatchObject({
    "deployment.environment.name": "test",
    "gateway.name": resource["service.name"],
  });
});

it("config.tracing of a reference file is supported: endpoint, headers, fields", async () => {
  const collector = await startCollector();
  const upstream = await startUpstream((_, response) => response.end());
  const gateway = await startGateway({
    file: {
      config: {
        tracing: {
          otlpEndpoint: `http://${collector.host}`,
          otlpProtocol: "http",
          headers: { "x-api-key": "$COLLECTOR_KEY" },
          randomSampling: 1,
          fields: { remove: ["url.path"], add: { path: "request.path" } },
        },
      },
    },
    listeners: [{ name: "http", routes: [{ name: "all", backends: [{ host: upstream }] }] }],
    env: { COLLECTOR_KEY: "the-key" },
  });
  await fetch(`${gateway.url}/x`);
  expect(await gateway.stop()).toBe(0);
  const { attributes } = only(collector.spans, "SERVER");
  expect(attributes).toMatchObject({ path: "/x" });
  expect(attributes).not.toHaveProperty(["url.path"]);
  expect(collector.requests[0]?.headers).toMatchObject({ "x-api-key": "the-key" });
});

it.each([{}, { otlpProtocol: "http" }])(
  "a path of config.tracing.otlpEndpoint is used as it is, with %o",
  async (protocol) => {
    const paths: (string | undefined)[] = [];
    const collector = await startUpstream((request, response) => {
      paths.push(request.url);
      response.setHeader("content-type", "application/json").end("{}");
    });
    const tracing = {
      otlpEndpoint: `${collector}/api/public/otel/v1/traces`,
      ...protocol,
      randomSampling: 1,
    };
    const gateway = await startGateway({
      file: { config: { tracing } },
      listeners: [{ routes: [{ policies: { directResponse: { status: 200 } } }] }],
    });
    await fetch(gateway.url);
    expect(await gateway.stop()).toBe(0);
    expect(paths).toEqual(["/api/public/otel/v1/traces"]);
  },
);

it("spans are exported over gRPC by default, with the same contents as over HTTP", async () => {
  const collector = await startGrpcCollector();
  const gateway = await startGateway({
    file: {
      config: {
        tracing: {
          otlpEndpoint: `http://${collector.host}`,
          headers: { "x-api-key": "$COLLECTOR_KEY" },
          randomSampling: true,
        },
      },
    },
    listeners: [
      { name: "http", routes: [{ name: "all", policies: { directResponse: { status: 503 } } }] },
    ],
    env: { COLLECTOR_KEY: "the-key" },
  });
  await fetch(`${gateway.url}/"traceId":"ab"`, { headers: { traceparent: PARENT } });
  expect(await gateway.stop()).toBe(0);
  expect(only(collector.spans, "SERVER")).toMatchObject({
    traceId: TRACE,
    parentSpanId: SPAN,
    error: "DirectResponse",
    attributes: { "http.response.status_code": 503, route: "all" },
  });
  expect(collector.requests[0]?.headers).toMatchObject({ "x-api-key": "the-key" });
});

it("only batches that a collector rejects temporarily are retried", async () => {
  const collector = await startCollector("503:1", "200", "400");
  const gateway = await startTraced(collector);
  await fetch(gateway.url);
  await collector.collected(1);
  expect(collector.requests.map(({ status }) => status)).toEqual([503, 200]);
  await fetch(gateway.url);
  await gateway.stop();
  expect(collector.requests.map(({ status }) => status)).toEqual([503, 200, 400]);
});

it("only batches that a collector rejects temporarily are retried over gRPC", async () => {
  const collector = await startGrpcCollector("UNAVAILABLE", "INVALID_ARGUMENT");
  const gateway = await startTraced(collector, "grpc");
  const { value } = await expositionOf(await gateway.statsPort());
  expect(value('gwc_otlp_dropped_total{signal="traces"}')).toBe(0);
  await fetch(gateway.url);
  await gateway.seen(/spans do not reach .*gRPC status 14/);
  // The second time it is refused permanently.
  await eventually(() => (collector.requests.length === 2 ? true : null), "the second try");
  const dropped = async () => {
    const { value } = await expositionOf(await gateway.statsPort());
    return value('gwc_otlp_dropped_total{signal="traces"}');
  };
  await eventually(async () => (await dropped()) === 1 || null, "the refusal");
  await fetch(gateway.url);
  expect(await gateway.stop()).toBe(0);
  expect(collector.requests).toHaveLength(3);
});

/** Starts a gateway that answers by itself and traces everything. */
function startTraced(collector: Pick<OtlpCollector, "host">, protocol = "http") {
  return startGateway({
    file: {
      frontendPolicies: {
        tracing: { host: collector.host, protocol, randomSampling: true },
      },
    },
    listeners: [
      { name: "http", routes: [{ name: "all", policies: { directResponse: { status: 200 } } }] },
    ],
  });
}

it("a filter decides at the end of a request about its span and those of its calls", async () => {
  const traced = await start({ randomSampling: true, filter: "response.code >= 500" });
  const { gateway } = traced;
  const responses = await Promise.all(
    ["/a", "/broken", "/closed"].map((path) => fetch(`${gateway.url}${path}`)),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 503, 500]);
  const spans = await ended(traced);
  const servers = spans.filter(({ kind }) => kind === "SPAN_KIND_SERVER");
  expect(servers).toHaveLength(2);
  const client = only(spans, "CLIENT");
  expect(servers.map(({ spanId }) => spanId)).toContain(client.parentSpanId);
});
