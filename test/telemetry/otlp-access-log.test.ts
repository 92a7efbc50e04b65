import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import {
  attributesOf,
  items,
  type OtlpCollector,
  startCollector,
  startGrpcCollector,
} from "../harness/otlp-collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

it.each([
  ["http", startCollector],
  ["grpc", startGrpcCollector],
])(
  "a record of each access line is exported over %s with its fields and trace",
  async (protocol, startServer) => {
    const collector = await startServer();
    const otlp = { host: collector.host, protocol };
    const gateway = await startGateway({
      file: {
        frontendPolicies: {
          accessLog: {
            filter: "response.code >= 400",
            add: { twice: "response.code * 2" },
            remove: ["http.version"],
            otlp,
          },
          tracing: { host: "127.0.0.1:1" },
        },
      },
      listeners: [
        {
          name: "http",
          routes: [
            { name: "bad", policies: { directResponse: { status: 404 } } },
            {
              name: "good",
              matches: [{ path: { exact: "/good" } }],
              policies: { directResponse: { status: 200 } },
            },
          ],
        },
      ],
    });
    const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
    for (const path of ["good", "bad"]) {
      await fetch(`${gateway.url}/${path}`, { headers: { traceparent } });
    }
    expect(await gateway.stop()).toBe(0);
    const [record, ...others] = recordsOf(collector);
    expect(others).toEqual([]);
    if (record === undefined) throw new Error(gateway.output);
    expect(record).toMatchObject({
      severityText: "INFO",
      body: { stringValue: "request" },
      traceId: TRACE,
    });
    expect(gateway.output).toContain(`span.id=${Reflect.get(record, "spanId")}`);
    const attributes = attributesOf(record);
    expect(attributes).toMatchObject({ "http.status": 404, route: "bad", twice: 808 });
    expect(attributes).not.toHaveProperty(["http.version"]);
  },
);

const OWN = {
  filter: 'request.path != "/healthz"',
  remove: ["http.version"],
  add: { status: "response.code" },
};

it.each([
  ["http", startCollector],
  ["grpc", startGrpcCollector],
])(
  "records have a filter and fields of their own over %s, apart from those of lines",
  async (protocol, startServer) => {
    const collector = await startServer();
    const { filter, ...fields } = OWN;
    const gateway = await startGateway({
      file: {
        frontendPolicies: {
          accessLog: {
            filter: "response.code >= 400",
            add: { twice: "response.code * 2" },
            otlp: { host: collector.host, protocol, filter, fields },
          },
        },
      },
      listeners: [
        {
          name: "http",
          routes: [
            { name: "bad", policies: { directResponse: { status: 404 } } },
            {
              name: "good",
              matches: [{ path: { exact: "/good" } }],
              policies: { directResponse: { status: 200 } },
            },
          ],
        },
      ],
    });
    for (const path of ["good", "bad", "healthz"]) await fetch(`${gateway.url}/${path}`);
    expect(await gateway.stop()).toBe(0);
    expectOwnRecords(collector, gateway.output);
  },
);

it("records of manifests have a filter and attributes of their own", async () => {
  const collector = await startCollector();
  const [host, port] = collector.host.split(":");
  const attributes = "{remove: [http.version], add: [{name: status, expression: response.code}]}";
  const gateway = await startIsolated(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: good}
spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {type: Exact, value: /good}}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: bad}
spec: {parentRefs: [{name: gw}], rules: [{}]}
---
${direct("good", 200)}
---
${direct("bad", 404)}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: otel}
spec: {static: {host: ${host}, port: ${port}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: p}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  frontend:
    accessLog:
      filter: response.code >= 400
      attributes: {add: [{name: twice, expression: response.code * 2}]}
      otlp:
        backendRef: {group: gwc.dev, kind: GatewayBackend, name: otel}
        protocol: HTTP
        filter: '${OWN.filter}'
        attributes: ${attributes}
`);
  for (const path of ["good", "bad", "healthz"]) await fetch(`${gateway.url}/${path}`);
  expect(await gateway.stop()).toBe(0);
  expectOwnRecords(collector, gateway.output);
});

const direct = (name: string, status: number): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {
    targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name}}],
    traffic: {directResponse: {status: ${status}}}}}`;

/** Expects lines of failures only, and records of everything except health checks. */
function expectOwnRecords(collector: OtlpCollector, output: string): void {
  const lines = output.split("\n").filter((line) => line.includes("twice="));
  expect(lines.map((line) => /http\.path=(\S+)/.exec(line)?.[1])).toEqual(["/bad", "/healthz"]);
  expect(output).not.toContain("http.path=/good");
  const records = recordsOf(collector).map((record) => attributesOf(record));
  expect(records.map((each) => [each["http.path"], each.status])).toEqual([
    ["/good", 200],
    ["/bad", 404],
  ]);
  for (const each of records) {
    expect(each).not.toHaveProperty(["http.version"]);
    expect(each).not.toHaveProperty(["twice"]);
  }
}

function recordsOf(collector: OtlpCollector): readonly object[] {
  return collector.requests
    .filter(({ path }) => path === "/v1/logs")
    .flatMap(({ request }) => items(request, "resourceLogs"))
    .flatMap((each) => items(each, "scopeLogs"))
    .flatMap((each) => items(each, "logRecords"));
}
