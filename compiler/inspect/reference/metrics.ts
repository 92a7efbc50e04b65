import { alertSummaries } from "../../observability/alerts.ts";
import { metricGroups } from "../../observability/metric-groups.ts";
import { heading, type Page, paragraph, table } from "./page.ts";

/** The reference of metrics, and of the dashboard and the alerts that are made of them. */
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
        ["alert", "severity", "what it says"],
        alertSummaries(metricGroups).map(({ name, severity, summary }) => [
          `\`${name}\``,
          severity,
          summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`"),
        ]),
      ),
    ],
  };
}

const INTRODUCTION = `A gateway answers \`/metrics\` on the port of \`config.statsAddr\` (15020) in Prometheus' text format. A bundle has the
metrics of what is configured, and no others. Names and labels follow Prometheus, those of models OpenTelemetry.

Labels have few values: what clients make up (methods, tools, models, destinations) is counted under one name from some number on.

\`gwc build --observability\` writes a Grafana dashboard (\`observability/dashboard.json\`, to be imported) and alert rules for Prometheus
(\`observability/alerts.yaml\`, for \`rule_files\`) for exactly the metrics that the bundle has. They speak of the gateway by its name, so that several
share a Prometheus. Thresholds are a beginning.`;
