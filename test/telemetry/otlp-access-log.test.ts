import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
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

function recordsOf(collector: OtlpCollector): readonly object[] {
  return collector.requests
    .filter(({ path }) => path === "/v1/logs")
    .flatMap(({ request }) => items(request, "resourceLogs"))
    .flatMap((each) => items(each, "scopeLogs"))
    .flatMap((each) => items(each, "logRecords"));
}
