import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { itWith, runTool } from "../harness/tool.ts";

/** Samples of one scrape per minute, in promtool's notation: `0+6x60` rises by 6, 60 times. */
type Series = Readonly<Record<string, string>>;

/** The alert rules of a gateway with most metrics, and a promtool test that finds the alerts that series trigger. */
class AlertRules {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the labels of the alerts that fire after half an hour, without those of the process, by alert name. */
  async firing(name: string, series: Series): Promise<readonly string[]> {
    const own = 'job="gw",instance="a"';
    const all: Series = { [`gwc_build_info{gateway="shop",${own}}`]: "1+0x60", ...series };
    const input = Object.entries(all).map(([sample, values]) => {
      const [, metric = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(sample) ?? [];
      const place = labels.includes("instance=") ? [] : [own];
      return { series: `${metric}{${[labels, ...place].filter(Boolean).join(",")}}`, values };
    });
    const file = path.join(this.#folder, `${name}.yaml`);
    const known = [...this.#text.matchAll(/alert: (\w+)/g)].map(([, alert = ""]) => alert);
    const checks = known.map((alertname) => ({ eval_time: "30m", alertname, exp_alerts: [] }));
    const tests = [{ interval: "1m", input_series: input, alert_rule_test: checks }];
    writeFileSync(file, JSON.stringify({ rule_files: ["observability/alerts.yaml"], tests }));
    // promtool expects no alerts in its test, so it prints those that fire.
    const said = await runTool("promtool", ["test", "rules", file]).catch((error: unknown) =>
      String(Reflect.get(Object(error), "stdout")).concat(String(error)),
    );
    if (!/SUCCESS|exp:\[\]/.test(said)) throw new Error(said);
    const found = said.matchAll(/Labels:\{alertname="(\w+)"((?:, \w+="[^"]*")*)\}/g);
    return [...found].map(([, alert, labels = ""]) => {
      const rest = labels.replace(/, (?:instance|job|severity)="[^"]*"/g, "");
      return `${alert}${rest.replaceAll(", ", " ")}`;
    });
  }

  get #text(): string {
    return readFileSync(path.join(this.#folder, "observability/alerts.yaml"), "utf8");
  }
}

async function rulesOfShop(): Promise<AlertRules> {
  const folder = temporaryFolder();
  const ai = { provider: { openAI: {} }, name: "fast" };
  makeCertificate(folder, "site");
  const tls = { cert: "site.pem", key: "site.key" };
  const config = {
    name: "shop",
    config: { tracing: { otlpEndpoint: "127.0.0.1:4317", randomSampling: 1 } },
    binds: [
      {
        port: 3000,
        listeners: [
          {
            protocol: "HTTPS",
            tls,
            routes: [
              {
                name: "tools",
                matches: [{ path: { pathPrefix: "/mcp" } }],
                policies: { extAuthz: { host: "127.0.0.1:9001" } },
                backends: [
                  { mcp: { targets: [{ name: "t", mcp: { host: "http://127.0.0.1:9" } }] } },
                ],
              },
              { name: "models", backends: [{ ai }] },
            ],
          },
        ],
      },
    ],
  };
  writeFileSync(path.join(folder, "gateway.yaml"), JSON.stringify(config));
  const built = await gwc(["build", "gateway.yaml", "-o", ".", "--observability"], { cwd: folder });
  expect(built.code, built.stderr).toBe(0);
  return new AlertRules(folder);
}

itWith(
  "promtool",
  "alerts fire for what they name, and for nothing of a gateway that is well",
  async () => {
    const rules = await rulesOfShop();
    const well: Series = {
      'gwc_requests_total{route="a",status="200"}': "0+60x60",
      'gwc_requests_total{route="a",status="503"}': "0+1x60",
      'gwc_upstream_requests_total{upstream="u:1",result="ok"}': "0+60x60",
      'gwc_upstream_requests_total{upstream="u:1",result="aborted"}': "0+60x60",
      'gwc_mcp_messages_total{route="tools",target="t",outcome="allowed"}': "0+60x60",
      'gwc_mcp_messages_total{route="tools",target="t",outcome="denied"}': "0+60x60",
      'gwc_provider_ejected_seconds{route="models",provider="fast"}': "8 0x60",
      'gwc_callouts_total{kind="extAuthz",target="c:1",result="denied"}': "0+60x60",
      'gwc_otlp_dropped_total{signal="traces"}': "0x60",
      // Four threads that are busy for a third of the time.
      ...Object.fromEntries(
        ["0", "1", "2", "3"].map((thread) => [
          `gwc_event_loop_active_seconds_total{thread="${thread}"}`,
          "0+20x60",
        ]),
      ),
      process_start_time_seconds: "100+0x60",
      // Port scanners do not speak TLS.
      'gwc_downstream_tls_handshakes_total{port="3443",result="ok"}': "0+6x60",
      'gwc_downstream_tls_handshakes_total{port="3443",result="not-tls"}': "0+60x60",
    };
    expect(await rules.firing("well", well)).toEqual([]);
    const ill: Series = {
      'gwc_requests_total{route="a",status="200"}': "0+60x60",
      'gwc_requests_total{route="a",status="503"}': "0+6x60",
      'gwc_upstream_requests_total{upstream="u:1",result="ok"}': "0+60x60",
      'gwc_upstream_requests_total{upstream="u:1",result="timeout"}': "0+10x60",
      'gwc_upstream_requests_queued{upstream="u:1"}': "3x60",
      'gwc_mcp_messages_total{route="tools",target="t",outcome="failed"}': "0+6x60",
      'gwc_mcp_messages_total{route="other",target="t",outcome="allowed"}': "0+60x60",
      // Repeatedly ejected for eight seconds, which few scrapes see.
      'gwc_provider_ejected_seconds{route="models",provider="fast"}': "0 0 7 0 0 8".concat(
        " 0 0 7 0 0 8".repeat(9),
      ),
      'gwc_callouts_total{kind="extAuthz",target="c:1",result="failed"}': "0+6x60",
      'gwc_otlp_dropped_total{signal="traces"}': "0x25 1x35",
      'gwc_event_loop_active_seconds_total{thread="0"}': "0+58x60",
      'gwc_event_loop_active_seconds_total{thread="1"}': "0+3x60",
      'gwc_downstream_tls_handshakes_total{port="3443",result="ok"}': "0+6x60",
      'gwc_downstream_tls_handshakes_total{port="3443",result="server-certificate"}': "0+1x60",
      gwc_config_last_reload_successful: "0x60",
      process_start_time_seconds: "100x24 200 300 400 400x60",
    };
    expect((await rules.firing("ill", ill)).toSorted()).toEqual([
      'GatewayBusy thread="0"',
      'GatewayCalloutFails kind="extAuthz" target="c:1"',
      "GatewayConfigurationRefused",
      'GatewayErrors route="a"',
      'GatewayMcpFails route="tools" target="t"',
      'GatewayProviderEjected provider="fast" route="models"',
      "GatewayRestarts",
      'GatewayTelemetryDropped signal="traces"',
      'GatewayTlsHandshakesFail port="3443"',
      'GatewayUpstreamFails upstream="u:1"',
      'GatewayUpstreamQueue upstream="u:1"',
    ]);
    const others: Series = {
      'gwc_requests_total{route="a",status="503",job="gw",instance="b"}': "0+6x60",
      'gwc_build_info{gateway="other",job="gw",instance="b"}': "1x60",
    };
    expect(await rules.firing("others", others)).toEqual([]);
  },
);
