import { expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { startGateway } from "../harness/gateway.ts";
import { startCollector, tracedAll } from "../harness/otlp-collector.ts";
import { startUpstream } from "../harness/upstream.ts";

it("a call is counted by its server's result, whichever side ends it", async () => {
  const collector = await startCollector();
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/hangs") return;
    response.statusCode = request.url === "/fails" ? 503 : 404;
    response.end("no");
  });
  const at = (exact: string, policies: object) => ({
    name: exact.slice(1),
    matches: [{ path: { exact } }],
    policies,
    backends: [{ host: upstream }],
  });
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [
      {
        routes: [
          at("/fails", { retry: { attempts: 2, codes: [503], backoff: "1ms" } }),
          at("/misses", { retry: { attempts: 1, codes: [404], backoff: "1ms" } }),
          at("/hangs", { timeout: { requestTimeout: "100ms" } }),
        ],
      },
    ],
  });
  const ask = async (path: string) => (await fetch(`${gateway.url}${path}`)).status;
  expect(await ask("/fails")).toBe(503);
  expect(await ask("/misses")).toBe(404);
  expect(await ask("/hangs")).toBe(504);
  const { value } = await expositionOf(await gateway.statsPort());
  const counted = (result: string) =>
    value(`gwc_upstream_requests_total{upstream="${new URL(upstream).host}",result="${result}"}`);
  expect(["ok", "error", "timeout", "aborted"].map(counted)).toEqual([2, 3, 1, 0]);
  expect(await gateway.stop()).toBe(0);
  const calls = collector.spans.filter(({ kind }) => kind === "SPAN_KIND_CLIENT");
  expect(calls.map(({ error }) => error)).toEqual([
    ...["503", "503", "503", "404", "404"],
    "timeout",
  ]);
});
