import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { metricGroups } from "../../compiler/observability/metric-groups.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { everythingScript } from "../harness/everything-server.ts";
import { type Exposition, expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { Gateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { itWith, runTool } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";

/** The metrics of a gateway with most counters, after traffic of every kind. */
let exposition: Exposition;
let firstExposition: Exposition;
let dashboard: string;
let alerts: string;
let folder: string;
let upstream: string;
/** `host:port` without a server. */
let away: string;

/** Responds as an MCP server whose only tool has no schema. */
async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { id, method } = body === "" ? {} : JSON.parse(body);
  const capabilities = { tools: {} };
  const serverInfo = { name: "malformed", version: "1" };
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: "2025-06-18", capabilities, serverInfo },
    "tools/list": { tools: [{ name: "no-schema" }] },
  };
  const result = results[method];
  if (result === undefined) response.writeHead(202).end();
  else {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}

beforeAll(async () => {
  folder = temporaryFolder();
  makeCertificate(folder, "own");
  upstream = await startUpstream((request, response) => {
    if (request.url === "/stream") response.setHeader("content-type", "text/event-stream");
    if (request.url === "/deny") response.statusCode = 403;
    response.end("data: x\n\n");
  });
  const malformed = await startUpstream(answerMcp);
  const refused = await freePort();
  away = `127.0.0.1:${await freePort()}`;
  const port = await freePort();
  const asked = (url: string) => ({
    extAuthz: { host: new URL(upstream).host, protocol: { http: { path: JSON.stringify(url) } } },
  });
  const to = (name: string, policies: object = {}) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [{ host: upstream }],
  });
  const config = {
    frontendPolicies: {
      tracing: { host: `127.0.0.1:${await freePort()}`, protocol: "http", randomSampling: true },
    },
    binds: [
      {
        port,
        listeners: [
          {
            name: "http",
            routes: [
              to("stream"),
              to("asked", asked("/yes")),
              to("denied", asked("/deny")),
              to("limited", {
                localRateLimit: [{ maxTokens: 1, tokensPerFill: 1, fillInterval: "1h" }],
              }),
              {
                name: "away",
                matches: [{ path: { exact: "/away" } }],
                backends: [{ host: away }],
              },
              {
                name: "mcp",
                matches: [{ path: { exact: "/mcp" } }],
                policies: { mcpAuthorization: { rules: ['mcp.tool.name != "get-env"'] } },
                backends: [
                  {
                    mcp: {
                      targets: [
                        {
                          name: "everything",
                          stdio: { cmd: process.execPath, args: [everythingScript()] },
                        },
                      ],
                    },
                  },
                ],
              },
              {
                name: "broken",
                matches: [{ path: { exact: "/broken" } }],
                backends: [
                  {
                    mcp: {
                      failureMode: "failOpen",
                      targets: [
                        { name: "malformed", mcp: { host: `${malformed}/mcp` } },
                        { name: "away", mcp: { host: `http://127.0.0.1:${refused}/mcp` } },
                      ],
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
      {
        port: await freePort(),
        listeners: [
          {
            name: "tls",
            protocol: "HTTPS",
            tls: { cert: "own.pem", key: "own.key" },
            routes: [to("stream")],
          },
        ],
      },
    ],
  };
  writeFileSync(path.join(folder, "gateway.yaml"), JSON.stringify(config));
  const built = await gwc(
    ["build", "gateway.yaml", "-o", "out", "--observability", "--no-type-check"],
    {
      cwd: folder,
    },
  );
  expect(built.stderr).not.toMatch(/error/);
  const read = (name: string) => readFileSync(path.join(folder, "out/observability", name), "utf8");
  dashboard = read("dashboard.json");
  alerts = read("alerts.yaml");
  const gateway = await new Gateway(path.join(folder, "out/gateway.mjs"), folder, {}).listening();
  firstExposition = await expositionOf(await gateway.statsPort());
  const ask = async (at: string) => (await fetch(`http://127.0.0.1:${port}${at}`)).text();
  for (const at of ["/stream", "/asked", "/denied", "/limited", "/limited", "/away", "/none"])
    await ask(at);
  const connected = async (at: string) => {
    const client = new Client({ name: "test", version: "1" });
    const address = new URL(`http://127.0.0.1:${port}${at}`);
    // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
    type Transport = Parameters<typeof client.connect>[0];
    await client.connect(new StreamableHTTPClientTransport(address) as Transport);
    return client;
  };
  const merged = await connected("/broken");
  expect((await merged.listTools()).tools).toEqual([]);
  await merged.close();
  const client = await connected("/mcp");
  await client.callTool({ name: "echo", arguments: { message: "hello" } });
  await client.callTool({ name: "get-sum", arguments: { a: "no number" } }).catch(() => {});
  await client.callTool({ name: "get-env" }).catch(() => {});
  // The stream of the first client has ended, and that of the second one has begun.
  const stats = await gateway.statsPort();
  exposition = await eventually(async () => {
    const found = await expositionOf(stats);
    return found.value("gwc_requests_active") === 1 ? found : null;
  }, "the only request in flight");
  await client.close();
}, 120_000);

it("requests, upstreams, MCP messages, callouts and limits are counted", () => {
  const { value } = exposition;
  const server = `upstream="${new URL(upstream).host}"`;
  const mcp = 'route="mcp",method="tools/call",target="everything"';
  const counted = {
    'gwc_stream_duration_seconds_count{listener="http",route="stream"}': 1,
    'gwc_request_duration_seconds_count{listener="http",route="limited"}': 2,
    gwc_requests_active: 1,
    [`gwc_upstream_requests_total{${server},result="ok"}`]: 5,
    [`gwc_upstream_requests_active{${server}}`]: 0,
    [`gwc_upstream_response_start_seconds_count{${server}}`]: 5,
    [`gwc_upstream_requests_total{upstream="${away}",result="connect"}`]: 1,
    [`gwc_upstream_connections_total{upstream="${away}",result="failed"}`]: 1,
    [`gwc_upstream_connections_total{upstream="${away}",result="ok"}`]: 0,
    [`gwc_upstream_connections_active{upstream="${away}"}`]: 0,
    [`gwc_mcp_messages_total{${mcp},item="echo",outcome="allowed"}`]: 1,
    [`gwc_mcp_messages_total{${mcp},item="get-sum",outcome="failed"}`]: 1,
    [`gwc_mcp_messages_total{${mcp},item="get-env",outcome="denied"}`]: 1,
    gwc_mcp_sessions_active: 1,
    'gwc_mcp_stdio_processes{target="everything"}': 1,
    [`gwc_callouts_total{kind="extAuthz",target="${new URL(upstream).host}",result="ok"}`]: 1,
    [`gwc_callouts_total{kind="extAuthz",target="${new URL(upstream).host}",result="denied"}`]: 1,
    'gwc_rate_limited_requests_total{route="limited",policy="localRateLimit",limit="gateway.yaml routes[limited].policies.localRateLimit[0]"}': 1,
    gwc_config_last_reload_successful: 1,
  };
  const found = Object.keys(counted).map((sample) => [sample, value(sample)]);
  expect(Object.fromEntries(found)).toEqual(counted);
});

it("build information and certificate expiry are exposed", () => {
  expect(exposition.text).toMatch(
    /^gwc_build_info\{gateway="gateway",version="\d+\.\d+\.\d+",config_digest="[0-9a-f]{12}"\} 1$/m,
  );
  const [, expiry] =
    /^gwc_certificate_expiry_timestamp_seconds\{hostname="\*",file="[^"]*own\.pem"\} (\d+)$/m.exec(
      exposition.text,
    ) ?? [undefined, "0"];
  const days = (Number(expiry) * 1000 - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(2);
});

it("the start time of the process is constant, as alerts look for changes of it", () => {
  const start = exposition.value("process_start_time_seconds");
  expect(start).toBeGreaterThan(1_700_000_000);
  expect(firstExposition.value("process_start_time_seconds")).toBe(start);
});

it("the exposed metrics match the table", () => {
  const table = metricGroups.flatMap(({ metrics }) => metrics);
  const known = new Map(table.map((metric) => [metric.name, metric]));
  for (const [name, labels] of exposition.labels) {
    expect(known.get(name)?.kind, name).toBe(exposition.types.get(name));
    expect([...labels].sort(), name).toEqual([...(known.get(name)?.labels ?? [])].sort());
  }
});

it("every metric and label in the dashboard and the alerts exists", () => {
  const queries = [...dashboardQueries(), ...alertQueries()];
  expect(queries.length).toBeGreaterThan(40);
  for (const query of queries) {
    const names = [...query.matchAll(/\b((?:gwc|gen_ai|process)_\w+)/g)].map(([, name = ""]) =>
      exposition.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""),
    );
    expect(names, query).not.toEqual([]);
    for (const name of names) expect(exposition.types.has(name), `${name} of ${query}`).toBe(true);
    const labels = new Set(names.flatMap((name) => [...(exposition.labels.get(name) ?? [])]));
    const asked = [
      ...[...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", ")),
      ...[...query.matchAll(/[{,](\w+)=~?"/g)].map(([, label = ""]) => label),
    ];
    // Metrics that Prometheus adds.
    for (const label of asked.filter((each) => !["job", "instance", "le"].includes(each)))
      expect(labels, `${label} of ${query}`).toContain(label);
  }
});

itWith("promtool", "promtool has nothing to say about the metrics", async () => {
  expect(await runTool("promtool", ["check", "metrics"], exposition.text)).toBe("");
});

itWith("promtool", "promtool takes the alerts and the queries of the dashboard", async () => {
  const rules = dashboardQueries().map((query, index) => ({
    record: `query:${index}`,
    expr: query.replaceAll("$__rate_interval", "5m"),
  }));
  const queries = path.join(folder, "queries.yaml");
  writeFileSync(queries, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  const found = await runTool("promtool", [
    "check",
    "rules",
    queries,
    path.join(folder, "out/observability/alerts.yaml"),
  ]);
  expect(found).toContain(`SUCCESS: ${rules.length} rules found`);
  expect(found).toContain(`SUCCESS: ${alertQueries().length} rules found`);
});

it("each graph has a unique title", () => {
  const titles = panelsOf().map(({ title }) => title);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});

itWith("promtool", "the share of errors of a route without errors is 0", async () => {
  const [panel] = panelsOf().filter(({ title }) => title.startsWith("Share of responses"));
  const expr = panel?.targets[0]?.expr
    .replaceAll("$__rate_interval", "5m")
    .replace(/\$(job|instance)/g, ".*");
  const series = (route: string, status: string, values: string) => ({
    series: `gwc_requests_total{job="gw",instance="a",route="${route}",status="${status}"}`,
    values,
  });
  const file = path.join(folder, "share.yaml");
  const test = {
    interval: "1m",
    input_series: [
      series("well", "200", "0+60x60"),
      series("ill", "200", "0+45x60"),
      series("ill", "503", "0+15x60"),
    ],
    promql_expr_test: [
      {
        expr,
        eval_time: "30m",
        exp_samples: [
          { labels: '{route="ill"}', value: 0.25 },
          { labels: '{route="well"}', value: 0 },
        ],
      },
    ],
  };
  writeFileSync(file, JSON.stringify({ rule_files: [], tests: [test] }));
  expect(await runTool("promtool", ["test", "rules", file])).toContain("SUCCESS");
});

interface ShownPanel {
  readonly type: string;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

function panelsOf(): readonly ShownPanel[] {
  const { panels } = JSON.parse(dashboard) as { readonly panels: readonly ShownPanel[] };
  return panels.filter(({ type }) => type !== "row");
}

function dashboardQueries(): string[] {
  return panelsOf().flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

function alertQueries(): string[] {
  const { groups } = parse(alerts);
  return groups.flatMap(({ rules }: { rules: readonly { expr: string }[] }) =>
    rules.map(({ expr }) => expr),
  );
}
