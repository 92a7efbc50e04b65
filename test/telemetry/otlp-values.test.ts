import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { items, startCollector, startGrpcCollector } from "../harness/otlp-collector.ts";

/** Values of every type, and strings that need several bytes per character, or escapes. */
const attributes = {
  "a.negative": "-5",
  "a.large": "9007199254740991",
  "a.share": "0.25",
  "a.yes": "true",
  "a.list": '["a", "grün", "\\"b\\""]',
  "a.words": '"grüße \\u2028 😀 \\\\"',
  "a.echo": 'request.headers["x-echo"]',
};

/** More paths and clients than are cached, and some of them again. */
const requests = Array.from({ length: 60 }, (_, i) => ({
  path: `/items/${i % 45}`,
  agent: `agent-${i % 20}`,
  echo: i % 7 === 0 ? "x".repeat(200) : `e${i % 3}`,
}));

it.each([
  ["http", startCollector],
  ["grpc", startGrpcCollector],
] as const)("every value arrives unchanged, whatever is cached: %s", async (protocol, startOne) => {
  const collector = await startOne();
  const { host } = collector;
  const gateway = await startGateway({
    file: {
      frontendPolicies: {
        tracing: { host, protocol, randomSampling: true, attributes },
        accessLog: { add: attributes, otlp: { host, protocol } },
      },
    },
    listeners: [{ routes: [{ name: "all", policies: { directResponse: { status: 200 } } }] }],
  });
  for (const { path, agent, echo } of requests) {
    await fetch(`${gateway.url}${path}`, { headers: { "user-agent": agent, "x-echo": echo } });
  }
  expect(await gateway.stop()).toBe(0);
  const { spans } = collector;
  expect(spans.map(({ attributes }) => attributes)).toEqual(
    requests.map(({ path, agent, echo }) => ({
      "http.request.method": "GET",
      "url.scheme": "http",
      "url.path": path,
      "server.address": "127.0.0.1",
      "http.route": "/*",
      "http.response.status_code": 200,
      "client.address": "127.0.0.1",
      "network.protocol.version": "1.1",
      "user_agent.original": agent,
      listener: spans[0]?.attributes.listener,
      route: "all",
      reason: "DirectResponse",
      "a.negative": -5,
      "a.large": 9007199254740991,
      "a.share": 0.25,
      "a.yes": true,
      "a.list": {
        values: [{ stringValue: "a" }, { stringValue: "grün" }, { stringValue: '"b"' }],
      },
      "a.words": "grüße \u2028 😀 \\",
      "a.echo": echo,
    })),
  );
  const now = BigInt(Date.now()) * 1_000_000n;
  const minute = 60_000_000_000n;
  for (const { start, end, name, traceId, spanId } of spans) {
    expect([name, traceId.length, spanId.length]).toEqual(["GET /*", 32, 16]);
    expect(now - start < minute && start <= end && end < now + minute).toBe(true);
  }
  const records = collector.requests
    .flatMap(({ request }) => items(request, "resourceLogs"))
    .flatMap((each) => items(each, "scopeLogs"))
    .flatMap((each) => items(each, "logRecords"));
  expect(records.map((each) => Reflect.get(each, "traceId"))).toEqual(
    spans.map(({ traceId }) => traceId),
  );
});
