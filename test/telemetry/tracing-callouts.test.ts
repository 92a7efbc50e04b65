import { expect, it } from "vitest";
import { startEnvoyServices } from "../harness/envoy-services.ts";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startCollector } from "../harness/otlp-collector.ts";
import { startScripted } from "../harness/scripted.ts";
import { startUpstream } from "../harness/upstream.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

it("each callout of a policy is a span, counted and timed in the log", async () => {
  const collector = await startCollector();
  const services = await startEnvoyServices();
  const http = await startScripted((response) => response.writeHead(204).end(), "anything");
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const { host } = new URL(services.url);
  const away = `127.0.0.1:${await freePort()}`;
  const route = (name: string, policies: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [{ host: upstream }],
  });
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing: { host: collector.host, protocol: "http" } } },
    listeners: [
      {
        name: "http",
        routes: [
          route("all", {
            extAuthz: { host, protocol: { grpc: {} } },
            remoteRateLimit: {
              host,
              domain: "shop",
              descriptors: [{ entries: [{ key: "path", value: "request.path" }] }],
            },
            extProc: { host },
          }),
          route("http", { extAuthz: { host: http.host, protocol: { http: {} } } }),
          route("away", { extAuthz: { host: away, protocol: { grpc: {} } } }),
        ],
      },
    ],
  });
  const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
  const headers = { traceparent, tracestate: "vendor=1" };
  for (const path of ["/all", "/http", "/away"])
    await (await fetch(`${gateway.url}${path}`, { headers })).text();
  const { value } = await expositionOf(await gateway.statsPort());
  expect(await gateway.stop()).toBe(0);
  const spans = collector.spans;
  const servers = new Map(
    spans
      .filter(({ kind }) => kind === "SPAN_KIND_SERVER")
      .map(({ attributes, spanId }) => [attributes["url.path"], spanId]),
  );
  const below = (path: string) =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === servers.get(path))
      .map(({ name, kind, error }) => ({ name, kind, error }));
  const client = { kind: "SPAN_KIND_CLIENT", error: undefined };
  const check = "envoy.service.auth.v3.Authorization/Check";
  const process = "envoy.service.ext_proc.v3.ExternalProcessor/Process";
  expect(below("/all").sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { ...client, name: "GET" },
    { ...client, name: check },
    { ...client, name: process },
    { ...client, name: "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit" },
  ]);
  expect(below("/http")).toContainEqual({ ...client, name: "GET" });
  expect(below("/http")).toHaveLength(2);
  expect(below("/away")).toEqual([{ ...client, name: check, error: "UNAVAILABLE" }]);
  const [asked] = spans.filter(({ name }) => name === check);
  expect(asked?.attributes).toEqual({
    "rpc.system.name": "grpc",
    "rpc.method": check,
    "rpc.response.status_code": "OK",
    "server.address": "127.0.0.1",
    "server.port": services.port,
  });
  // The servers continue the trace.
  for (const { call, metadata } of services.seen()) {
    const span = spans.find(({ name }) => name.endsWith(`/${call}`));
    expect(metadata).toMatchObject({
      traceparent: `00-${TRACE}-${span?.spanId}-01`,
      tracestate: "vendor=1",
    });
  }
  expect(http.received[0]?.headers.traceparent).toMatch(`00-${TRACE}-`);
  const callout = (kind: string, target: string, result: string) =>
    value(`gwc_callouts_total{kind="${kind}",target="${target}",result="${result}"}`);
  expect(callout("extAuthz", host, "ok")).toBe(1);
  expect(callout("remoteRateLimit", host, "ok")).toBe(1);
  expect(callout("extProc", host, "ok")).toBe(1);
  expect(callout("extAuthz", away, "failed")).toBe(1);
  expect(gateway.output).toMatch(
    / http\.path=\/all .*extAuthz\.duration=\d+ms remoteRateLimit\.duration=\d+ms extProc\.duration=\d+ms/,
  );
});
