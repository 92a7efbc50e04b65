import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import {
  type CollectorRequest,
  type OtlpCollector,
  startCollector,
  startGrpcCollector,
} from "../harness/otlp-collector.ts";

const SECRET = "of-a-collector";
const LISTENERS = [{ routes: [{ policies: { directResponse: { status: 200 } } }] }];

/** Starts a gateway with tracing and variables, sends a request, and ends it, which sends the span. */
async function traced(file: object, env: Readonly<Record<string, string>>) {
  const gateway = await startGateway({ file, listeners: LISTENERS, env });
  await fetch(gateway.url);
  expect(await gateway.stop()).toBe(0);
  return gateway.output;
}

/** The request with the only span that a collector got. */
function only({ spans, requests }: OtlpCollector): CollectorRequest {
  expect(spans).toHaveLength(1);
  const [request, ...others] = requests;
  if (request === undefined || others.length > 0) throw new Error(JSON.stringify(requests));
  return request;
}

function processTracing(more: object = {}) {
  return { config: { tracing: { randomSampling: true, ...more } } };
}

it("variables give config.tracing its collector, protocol, headers and resource", async () => {
  const collector = await startCollector();
  const log = await traced(processTracing(), {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${collector.host}/`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_EXPORTER_OTLP_HEADERS: "X-Team=blue%2Cred, authorization=Basic%20b2Y6YQ==",
    OTEL_EXPORTER_OTLP_TIMEOUT: "8000",
    OTEL_SERVICE_NAME: "shop",
    OTEL_RESOURCE_ATTRIBUTES:
      "service.name=other,deployment.environment.name=a%20test,unfinished,service.instance.id=1",
  });
  const { path, headers } = only(collector);
  expect(path).toBe("/v1/traces");
  expect(headers).toMatchObject({
    "content-type": "application/x-protobuf",
    "x-team": "blue,red",
    authorization: "Basic b2Y6YQ==",
  });
  expect(collector.spans[0]?.resource).toMatchObject({
    "service.name": "shop",
    "service.instance.id": "1",
    "deployment.environment.name": "a test",
  });
  expect(log).toContain("OTEL_RESOURCE_ATTRIBUTES has parts that are not NAME=VALUE");
});

it("variables of traces precede those of all signals, and both precede the file", async () => {
  const [collector, other] = await Promise.all([startGrpcCollector(), startCollector()]);
  const ofFile = {
    otlpEndpoint: `http://${other.host}`,
    otlpProtocol: "http",
    headers: { "x-from": "file" },
  };
  await traced(processTracing(ofFile), {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://${collector.host}`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: JSON.stringify({ "x-from": "traces" }),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${other.host}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: "x-from=all",
  });
  expect(only(collector).headers).toMatchObject({ "x-from": "traces" });
  expect(other.requests).toEqual([]);
});

it("empty variables leave the file as it is, and headers alone go to its collector", async () => {
  const collector = await startCollector();
  const ofFile = { otlpEndpoint: `http://${collector.host}/v1/traces`, headers: { "x-a": "1" } };
  await traced(processTracing(ofFile), {
    OTEL_EXPORTER_OTLP_ENDPOINT: "",
    OTEL_EXPORTER_OTLP_HEADERS: "x-b=2",
  });
  const { headers } = only(collector);
  expect(headers).toMatchObject({ "content-type": "application/json", "x-b": "2" });
  expect(headers).not.toHaveProperty("x-a");
});

it("frontendPolicies.tracing and its collector are not replaced", async () => {
  const [collector, other] = await Promise.all([startCollector(), startCollector()]);
  const tracing = { host: collector.host, protocol: "http", randomSampling: true };
  await traced(
    { frontendPolicies: { tracing } },
    { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${other.host}`, OTEL_SERVICE_NAME: "shop" },
  );
  only(collector);
  expect(collector.spans[0]?.resource).toMatchObject({ "service.name": "shop" });
  expect(other.requests).toEqual([]);
});

it("a gateway does not start without an address, or with a malformed variable", async () => {
  const refused = (env: Readonly<Record<string, string>>) =>
    startGateway({ file: processTracing(), listeners: LISTENERS, env }).then(
      () => "started",
      (error: Error) => error.message,
    );
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  const [none, ...malformed] = await Promise.all([
    refused({}),
    refused({ OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://${SECRET}` }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: SECRET }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: SECRET }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: `host=${SECRET}` }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: `{"a": ["${SECRET}"]}` }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: `a=${SECRET}%0d%0ab: c` }),
    refused({ ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "-1" }),
  ]);
  expect(none).toContain(
    "config.tracing has no otlpEndpoint, and none of OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTLP_ENDPOINT is set",
  );
  for (const message of malformed) {
    expect(message).toMatch(/the environment variable OTEL_EXPORTER_OTLP_\w+ must be /);
    expect(message).not.toContain(SECRET);
  }
});
