import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startHandwritten } from "./handwritten-gateway.ts";
import { startPlain } from "./plain-gateway.ts";

function startOk(): Promise<string> {
  return startUpstream((_request, response) => response.end("ok"));
}

it("one line tells of each request what happened, and never its query or its token", async () => {
  const upstream = await startOk();
  const { gateway, port } = await startPlain(upstream);
  const client = new RawClient(port);
  client.send(
    "GET /a/b?token=query-secret HTTP/1.1\r\nHost: API.example.com:80\r\nAuthorization: Bearer header-secret\r\n\r\n",
  );
  const [line] = await gateway.seen(/^(.*\trequest .*)$/m);
  const place = new URL(upstream).host;
  expect(line).toMatch(
    new RegExp(
      `^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z\\tinfo\\trequest listener=http route=plain endpoint=${place} ` +
        "src\\.addr=127\\.0\\.0\\.1:\\d+ http\\.method=GET http\\.host=api\\.example\\.com:80 http\\.path=/a/b " +
        "http\\.version=HTTP/1\\.1 http\\.status=200 duration=\\d+ms$",
    ),
  );
  expect(gateway.output).not.toMatch(/secret/);
});

it("what a client writes can't make a line or a field", async () => {
  const { gateway, port } = await startPlain(await startOk());
  // Characters that the parser accepts in a target.
  const targets = ['/a"b', "/x%0a2026-01-01T00:00:00.000Z", "/c=d=reason", "/back\\slash"];
  for (const target of targets) {
    const client = new RawClient(port);
    client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.closes();
  }
  const lines = await eventually(() => {
    const found = gateway.output.match(/^.*\trequest .*$/gm) ?? [];
    return found.length >= targets.length ? found : null;
  }, "the lines");
  expect(lines).toHaveLength(targets.length);
  expect(gateway.output).toMatch(/http\.path="\/a\\"b" /);
  expect(gateway.output).toMatch(/http\.path="\/c=d=reason" /);
  expect(gateway.output).toMatch(/http\.path="\/back\\\\slash" /);
  // Nothing but printable characters and tabs between line feeds.
  expect(gateway.output).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
});

it("JSON lines are objects with the same names", async () => {
  const down = `http://127.0.0.1:${await freePort()}`;
  const { gateway, url } = await startPlain(down, { LOG_FORMAT: "json" });
  await fetch(`${url}/x`);
  const [line] = await gateway.seen(/^(.*"scope":"request".*)$/m);
  expect(JSON.parse(line)).toMatchObject({
    level: "info",
    listener: "http",
    route: "plain",
    "http.path": "/x",
    "http.status": 503,
    reason: "UpstreamFailure",
    duration: expect.stringMatching(/^\d+ms$/),
    duration_ms: expect.any(Number),
  });
});

it("counters and latencies of each route are exposed for Prometheus", async () => {
  const { gateway, url } = await startHandwritten(await startOk());
  for (let i = 0; i < 3; i++) await (await fetch(url)).text();
  await fetch(`${url}/missing`);
  await fetch(url, { method: "REPORT" });
  const garbage = new RawClient(Number(new URL(url).port));
  garbage.send("garbage\r\n\r\n");
  await garbage.closes();
  const stats = `http://127.0.0.1:${await gateway.statsPort()}`;
  const response = await fetch(`${stats}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = parseExposition(await response.text());
  const plain = 'listener="http",route="plain"';
  expect(samples.get(`gwc_requests_total{${plain},method="GET",status="200",reason=""}`)).toBe(3);
  expect(samples.get(`gwc_requests_total{${plain},method="OTHER",status="200",reason=""}`)).toBe(1);
  expect(
    samples.get(
      'gwc_requests_total{listener="unknown",route="unknown",method="GET",status="404",reason="NotFound"}',
    ),
  ).toBe(1);
  expect(samples.get(`gwc_request_duration_seconds_count{${plain}}`)).toBe(4);
  expect(samples.get(`gwc_request_duration_seconds_bucket{${plain},le="+Inf"}`)).toBe(4);
  expect(samples.get("gwc_malformed_requests_total")).toBe(1);
  expect((await fetch(`${stats}/`)).status).toBe(404);
});

/** Samples by name and labels; checks what Prometheus' own parser insists on. */
function parseExposition(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  let family = "";
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment !== null) {
      family = comment[2] ?? "";
      if (comment[1] === "TYPE") {
        expect(types.has(family), family).toBe(false);
        types.set(family, comment[3] ?? "");
      }
      continue;
    }
    const sample =
      /^([a-z_]+)((?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) ([0-9.e+-]+)$/.exec(line);
    expect(sample, line).not.toBeNull();
    const name = sample?.[1] ?? "";
    const isHistogram = types.get(family) === "histogram";
    expect(isHistogram ? name.replace(/_(bucket|sum|count)$/, "") : name).toBe(family);
    const key = `${name}${sample?.[2]}`;
    expect(samples.has(key), key).toBe(false);
    samples.set(key, Number(sample?.[3]));
  }
  return samples;
}
