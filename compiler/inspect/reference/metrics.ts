import { alertSummaries } from "../../observability/alerts.ts";
import { metricGroups } from "../../observability/metric-groups.ts";
import { heading, type Page, paragraph, table } from "./page.ts";

/** Returns the page about metrics, the dashboard and the alerts. */
export function metricsPage(): Page {
  return {
    title: "Metrics",
    parts: [
      ...INTRODUCTION.split("\n\n").map(paragraph),
      ...metricGroups.flatMap(({ title, metrics }) => [
        heading(title),
        ...table(
          ["metric", "type", "labels", "what it is"],
          metrics.map(({ name, kind, labels, help }) => [
            `\`${name}\``,
            kind,
            labels.map((label) => `\`${label}\``).join(", "),
            help,
          ]),
        ),
      ]),
      heading("Alerts"),
      ...table(
        ["alert", "severity", "summary"],
        alertSummaries(metricGroups).map(({ name, severity, summary }) => [
          `\`${name}\``,
          severity,
          summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`"),
        ]),
      ),
    ],
  };
}

const INTRODUCTION = `A gateway serves \`/metrics\` on \`config.statsAddr\` (port 15020) in Prometheus' text format. A bundle contains only the
metrics of configured features. Names and labels follow Prometheus, those of models OpenTelemetry.

Label cardinality is bounded: values that clients choose (methods, tools, models, destinations) are counted under one common value beyond a limit.

\`gwc build --observability\` writes a Grafana dashboard to import (\`observability/dashboard.json\`) and alert rules for Prometheus'
\`rule_files\` (\`observability/alerts.yaml\`). They cover exactly the metrics of the bundle, and select them by the gateway's name, so that several gateways can
share a Prometheus. Adjust the thresholds to your traffic.`;
